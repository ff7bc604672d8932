#include "libcore/vectorize/recipe/raw_examples.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/vectorize/recipe/recipe_reader.h"

namespace dl::vectorize {
namespace {

class RawExamples : public data::Examples {
 public:
  explicit RawExamples(std::unique_ptr<Reader> reader)
      : reader_(std::move(reader)), metadata_(reader_->metadata()) {}

  const std::string& name() const override { return name_; }
  const data::Metadata& metadata() const override { return metadata_; }
  bool read(data::DataSet& set) override {
    if (reader_->read(set)) return true;
    metadata_ = reader_->metadata();
    return false;
  }

 private:
  std::string name_ = "the raw data";
  std::unique_ptr<Reader> reader_;
  data::Metadata metadata_;
};

}  // namespace

std::unique_ptr<data::Examples> open_raw_examples(
    const data::Metadata& known, const std::vector<std::string>& operands,
    const RawExamplesOptions& options, BadRecords& bad) {
  if (known.recipe.is_null())
    bad_data(
        "the model has no recipe for raw data: its examples were not made by "
        "one; give it a DataSet stream");
  Recipe recipe =
      Recipe::from_json(known.recipe, "what the model has", Code::kData);
  if (options.log)
    for (const std::string& doubt : recipe.doubts())
      options.log(Level::kWarning, doubt);
  // A prediction names its row.
  if (recipe.is_of_tables() &&
      std::ranges::find(recipe.tensors, "id", &RecipeTensor::name) ==
          recipe.tensors.end())
    recipe.tensors.push_back(
        {"id", {{find_vectorizer("id"), {{"from", "file:line"}}}}});
  RecipeOptions own;
  own.batch = options.batch;
  own.threads = options.threads;
  own.labels = options.labels;
  own.classes = known.classes;
  own.table = options.table;
  own.index = bad.tolerant();
  return std::make_unique<RawExamples>(open_recipe(recipe, operands, own, bad));
}

}  // namespace dl::vectorize
