// The reader of a table as windows of series, by a recipe with "series".

#ifndef DL_LIBCORE_VECTORIZE_SERIES_SERIES_READER_H_
#define DL_LIBCORE_VECTORIZE_SERIES_SERIES_READER_H_

#include <memory>

#include "libcore/vectorize/recipe/recipe_reader.h"

namespace dl::vectorize {

// As open_recipe().  options.share: of the time; the first part has the first
// rows, and a window is in the part that has all rows it predicts.  All rows
// are read at once, and held.
std::unique_ptr<Reader> open_series(const Recipe& recipe, const Inputs& inputs,
                                    const RecipeOptions& options,
                                    BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_SERIES_READER_H_
