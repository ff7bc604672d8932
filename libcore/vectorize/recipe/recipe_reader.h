// The reader of raw data by a recipe.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_READER_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/recipe/share.h"

namespace dl::vectorize {

struct RecipeOptions {
  std::int64_t batch = 256;  // records a block, fewer if examples are large
  std::int64_t threads = 0;  // 0: one for each core
  bool labels = true;        // false: tensors of labels are left out
  // Classes that are known from elsewhere, by the names of tensors.
  std::map<std::string, std::vector<std::string>> classes = {};
  std::string table = {};  // a CSV file with more columns (with_table()), or ""
  // The tensor "index", the place of each example in the input.
  bool index = false;
  // The part to take of `parts` parts: every parts-th block from block
  // part - 1 on.
  std::int64_t part = 1, parts = 1;
  // A few examples of the whole input in place of all, as many as a sheet of
  // draw_examples() has, and as even over classes, or folders, as may be.
  bool preview = false;
  // The examples to take, by the names of their records.
  Share share = {};
};

// A record of the stream is a block of the input, without its bad records: so
// the stream is the same for any number of threads.
// `bad` must outlive the reader.  Throws Error: kUsage, kNoInput, kData,
// kConfig.
std::unique_ptr<Reader> open_recipe(const Recipe& recipe, const Inputs& inputs,
                                    const RecipeOptions& options,
                                    BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_READER_H_
