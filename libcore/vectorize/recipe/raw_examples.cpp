#include "libcore/vectorize/recipe/raw_examples.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/recipe/recipe_reader.h"
#include "libcore/vectorize/table/pattern.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

class RawExamples : public data::Examples {
 public:
  // recipe: the model's, as labels may come from elsewhere.
  RawExamples(std::unique_ptr<Reader> reader, Log log, Json recipe)
      : reader_(std::move(reader)),
        log_(std::move(log)),
        recipe_(std::move(recipe)) {
    if (recipe_.contains("series"))  // of the training data
      recipe_["series"].erase("baseline");
    take_metadata();
  }

  const std::string& name() const override { return name_; }
  const data::Metadata& metadata() const override { return metadata_; }
  bool read(data::DataSet& set) override {
    if (reader_->read(set)) {
      set.encoded.clear();
      set.views.clear();
      return true;
    }
    take_metadata();
    const std::string left = sentence_of(reader_->passed_over());
    for (const std::string& sentence : {left, reader_->left_out()})
      if (log_ && !sentence.empty()) log_(Level::kInfo, sentence);
    return false;
  }

 private:
  void take_metadata() {
    metadata_ = reader_->metadata().decoded();
    const Json own = std::exchange(metadata_.recipe, recipe_);
    if (recipe_.contains("series") && own["series"].contains("baseline"))
      metadata_.recipe["series"]["baseline"] = own["series"]["baseline"];
  }

  std::string name_ = "the raw data";
  std::unique_ptr<Reader> reader_;
  Log log_;
  Json recipe_;
  data::Metadata metadata_;
};

// The column that names a record of files.
std::string name_column(const Json& recipe) {
  const Json source = recipe.value("source", Json::object());
  return source.is_object() && source.value("type", Json()) == "webdataset"
             ? "key"
             : "path";
}

// The recipe with labels from elsewhere.
Json with_labels_from(Json json, const LabelsFrom& from) {
  const bool is_single = json.is_object() && json.contains("tensors") &&
                         json["tensors"].is_object() &&
                         json["tensors"].contains("labels") &&
                         json["tensors"]["labels"].is_object();
  if (!is_single) {
    if (!from.column.empty() || !from.pattern.empty())
      bad_usage(
          "--label-from and --label-pattern are for one column of labels; the "
          "model's recipe has several, or none");
    return json;
  }
  Json& labels = json["tensors"]["labels"];
  const bool is_number = labels.value("type", Json()) == "number";
  const bool by_folder = labels.value("type", Json()) == "category" &&
                         !labels.contains("pattern") &&
                         labels.value("from", Json("folder")) == "folder";
  if (!from.pattern.empty()) {
    if (is_number)
      bad_usage("--label-pattern is for classes; the model predicts numbers");
    try {
      (void)Pattern(from.pattern, Code::kUsage);
    } catch (Error& e) {
      e.add_context("--label-pattern");
      throw;
    }
  }
  const std::string column = !from.column.empty()    ? from.column
                             : !from.pattern.empty() ? name_column(json)
                             : by_folder && !from.table.empty() ? "label"
                                                                : "";
  if (column.empty()) return json;
  if (is_number)
    labels["from"] = split_list(column, "--label-from");
  else
    labels["from"] = column;
  if (!from.pattern.empty())
    labels["pattern"] = from.pattern;
  else if (!from.column.empty())
    labels.erase("pattern");
  return json;
}

}  // namespace

std::unique_ptr<data::Examples> open_raw_examples(
    const data::Metadata& known, const Inputs& inputs,
    const RawExamplesOptions& options, BadRecords& bad) {
  if (known.recipe.is_null())
    bad_data(
        "the model has no recipe for raw data: its examples were made without "
        "one, as by 'csv --sequence' or raw; give it a DataSet stream");
  Recipe recipe =
      Recipe::from_json(with_labels_from(known.recipe, options.from),
                        "the model's recipe", Code::kData);
  recipe.from = RecipeFrom::kModel;
  if (recipe.is_of_tables() && !options.from.table.empty())
    bad_usage("--labels is for pictures; the model's recipe reads tables");
  if (!options.from.column.empty() || !options.from.table.empty())
    for (RecipeTensor& tensor : recipe.tensors)
      if (tensor.name == "labels") tensor.parts[0].place = "--label-from";
  if (options.log)
    for (const std::string& doubt : recipe.doubts())
      options.log(Level::kWarning, doubt);
  // A prediction names its row.
  if (recipe.is_of_tables() &&
      std::ranges::find(recipe.tensors, "id", &RecipeTensor::name) ==
          recipe.tensors.end())
    recipe.tensors.push_back(
        {"id", {{find_vectorizer("id"), {{"from", "file:line"}}, "the id"}}});
  RecipeOptions own;
  own.batch = options.batch;
  own.threads = options.threads;
  own.labels = options.labels;
  own.classes["labels"] = known.classes;
  for (const auto& [name, part] : known.parts)
    own.classes["labels/" + name] = part.classes;
  own.table = options.from.table;
  own.index = bad.tolerant();
  Inputs told = inputs;
  told.tell_encoding = options.log;
  return std::make_unique<RawExamples>(open_recipe(recipe, told, own, bad),
                                       options.log, known.recipe);
}

}  // namespace dl::vectorize
