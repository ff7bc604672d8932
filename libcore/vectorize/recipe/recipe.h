// A recipe, dl-recipe(5): how examples are made of raw data.
//
//   { "source": {"type": "files"},
//     "tensors": {
//       "features": {"type": "image", "size": [32, 32]},
//       "labels": {"type": "category", "from": "folder"},
//       "id": {"type": "id", "from": "path"} } }
//
// It goes along in the metadata of the stream and of the model that learns from
// it, so that whoever applies the model makes the same of new data.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_H_

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/steps/steps_source.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {

// The kind of source that records come from.
struct SourceType {
  std::string_view name;   // "files"
  std::string_view words;  // its purpose, as dl-recipe(5) has it
  std::vector<RecipeKey> keys = {};
  std::unique_ptr<RecordSource> (*open)(Inputs inputs,
                                        Suffixes wanted) = nullptr;
  // In its place, of a source that has keys.
  std::unique_ptr<RecordSource> (*open_with)(
      Inputs inputs, const RecipeSettings& settings) = nullptr;
};
std::span<const SourceType> source_types();

struct RecipePart {
  const VectorizerType* type;
  Json given;         // its object, as the recipe has it
  std::string place;  // as messages call it: "'r.json': tensors.features[1]"

  RecipeSettings settings(RecipeFrom from = RecipeFrom::kFile) const {
    return {given, type->keys, from};
  }
};

struct RecipeTensor {
  std::string name;               // "features", "labels", "id"
  std::vector<RecipePart> parts;  // one, or several side by side
};

struct Recipe {
  std::string name;  // as messages call it: "'r.json'"
  RecipeFrom from = RecipeFrom::kFile;
  const SourceType* source = nullptr;
  Json source_given = Json::object();  // its object, as the recipe has it
  std::vector<RecipeStep> steps;       // of tables, before the tensors
  std::vector<RecipeTensor> tensors;
  Json series;  // how rows become windows, series_settings.h; or null
  // Versions of the libraries that it was last used with, by name.
  Json libraries = Json::object();

  // Throws Error: code, with a line for each mistake, "'r.json': tensors...".
  static Recipe from_json(const Json& json, const std::string& name, Code code);

  // As metadata have it: with every default, which later programs may have
  // others of, and the libraries of now; without the classes of labels, which
  // metadata have themselves, unless they are wanted.
  Json to_json(bool with_classes = false) const;
  // Sentences about libraries of now that are of other versions than those that
  // it was last used with.
  std::vector<std::string> doubts() const;

  // labels: whether the columns of labels are wanted.  table: as with_table()
  // takes it, or "".
  // Throws Error: kUsage, kNoInput, kData; kConfig, files have no such column.
  std::unique_ptr<RecordSource> open(Inputs inputs, bool labels = true,
                                     const std::string& table = "") const;
  bool is_of_tables() const { return source->open_with != nullptr; }

  // The ends of names of the files that are wanted; none: any.
  std::span<const std::string_view> suffixes() const;
};

// The JSON Schema of recipes, and the tables of dl-recipe(5).
Json recipe_schema();
std::string recipe_page();

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RECIPE_H_
