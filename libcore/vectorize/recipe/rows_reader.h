// The reader of tables whose rows are made into examples each by itself: blocks
// of rows are worked on side by side, from text to numbers.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_ROWS_READER_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_ROWS_READER_H_

#include <memory>

#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/made_tensors.h"

namespace dl::vectorize {

// Whether open_rows() gives the records that a reader of one row after the
// other would.
bool can_open_rows(const MadeTensors& tensors, const RecordSource& source,
                   const RecipeOptions& options);
// `bad` must outlive the reader.
std::unique_ptr<Reader> open_rows(MadeTensors tensors,
                                  std::unique_ptr<RecordSource> source,
                                  const RecipeOptions& options,
                                  BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_ROWS_READER_H_
