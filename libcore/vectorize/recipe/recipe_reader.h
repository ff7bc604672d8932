// The reader of raw data by a recipe.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_READER_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/recipe.h"

namespace dl::vectorize {

struct RecipeOptions {
  std::int64_t batch = 256;  // records a block, fewer if examples are large
  std::int64_t threads = 0;  // 0: one for each core
  bool labels = true;        // false: tensors of labels are left out
  std::vector<std::string> classes = {};  // that are known from elsewhere
  std::string table = {};  // a CSV file with more columns (with_table()), or ""
  // The tensor "index", the place of each example in the input.
  bool index = false;
  // The part to take of `parts` parts: every parts-th block from block
  // part - 1 on.
  std::int64_t part = 1, parts = 1;
};

class RecipeReader : public Reader {
 public:
  // Files that were passed over, as their names are no picture's.
  virtual std::int64_t passed_over() const = 0;
};

// A record of the stream is a block of the input, without its bad records: so
// the stream is the same for any number of threads.
// `bad` must outlive the reader.  Throws Error: kUsage, kNoInput, kData,
// kConfig.
std::unique_ptr<RecipeReader> open_recipe(
    const Recipe& recipe, const std::vector<std::string>& operands,
    const RecipeOptions& options, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_READER_H_
