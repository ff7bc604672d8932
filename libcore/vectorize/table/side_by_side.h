// Rows of several vectorizers as one row.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_SIDE_BY_SIDE_H_
#define DL_LIBCORE_VECTORIZE_TABLE_SIDE_BY_SIDE_H_

#include <memory>
#include <vector>

#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {

// A single one is given back as it is; several make F32 [columns] each.
std::unique_ptr<Vectorizer> side_by_side(
    std::vector<std::unique_ptr<Vectorizer>> parts);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_SIDE_BY_SIDE_H_
