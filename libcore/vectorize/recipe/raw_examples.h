// Raw data as the examples of a model: made by the recipe that made those that
// it learnt from, and by nothing else.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RAW_EXAMPLES_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RAW_EXAMPLES_H_

#include <memory>
#include <string>

#include "libcore/base/log.h"
#include "libcore/data/examples.h"
#include "libcore/vectorize/bad_records.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

// Where labels come from in the place of the recipe's.
struct LabelsFrom {
  std::string table = {};  // as RecipeOptions::table
  // The column of the class, or of the number; "": the recipe's, or, with a
  // table, its "label" where that is a folder, or, with a pattern, "path".
  std::string column = {};
  std::string pattern = {};  // the part of it that counts; "": the recipe's
};

struct RawExamplesOptions {
  std::int64_t batch = 256;
  std::int64_t threads = 0;
  bool labels = false;  // whether they are wanted, as for evaluation
  LabelsFrom from = {};
  Log log = {};  // told of libraries of other versions; or none
};

// known: what the model knows of its data.  `bad` must outlive the examples.
// Throws Error: kData, it has no recipe, or one that is damaged; kUsage;
// kNoInput.
std::unique_ptr<data::Examples> open_raw_examples(
    const data::Metadata& known, const Inputs& inputs,
    const RawExamplesOptions& options, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RAW_EXAMPLES_H_
