// The recipe that says the same as the options for a table.

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/recipe/recipe.h"

namespace dl::vectorize {

// Null where a recipe cannot say it.
Json CsvFields::recipe() const {
  constexpr std::size_t kMostColumns = 4096;  // the metadata have a limit
  const data::Field& features = schema_.at("features");
  if (cut_.way != SequenceCut::kNone || weight_ ||
      features_.size() > kMostColumns || !options_.shape.empty() ||
      features.dtype != tensor::DType::kF32)
    return nullptr;
  bool are_plain = true;
  const auto name_of = [&](std::size_t column) {
    std::string name = table_.has_header() ? table_.names()[column]
                                           : std::to_string(column + 1);
    // A name that two columns have, or none, is no way to find one.
    const auto same =
        table_.has_header() ? std::ranges::count(table_.names(), name) : 1;
    are_plain = are_plain && !name.empty() && same == 1;
    return name;
  };
  Json na = Json::array();
  for (const std::string& word : missing_.words)
    if (!word.empty()) na.push_back(word);
  const auto numbers = [&](const std::vector<std::size_t>& columns) {
    Json from = Json::array();
    for (const std::size_t column : columns) from.push_back(name_of(column));
    return Json{{"type", "number"}, {"from", from}, {"na", na}};
  };
  Json tensors = {{"features", numbers(features_)}};
  if (missing_.kind == MissingRule::kFill) {
    tensors["features"]["missing"] = "value";
    tensors["features"]["value"] = missing_.value;
  }
  if (has_classes())
    tensors["labels"] = {
        {"type", "category"}, {"from", name_of(labels_[0])}, {"na", na}};
  else if (!labels_.empty())
    tensors["labels"] = numbers(labels_);
  if (id_)
    tensors["id"] = {
        {"type", "id"}, {"from", name_of(*id_)}, {"bytes", id_bytes_}};
  if (!are_plain) return nullptr;
  Json source = {{"type", "csv"},
                 {"delimiter", csv_.delimiter},
                 {"header", table_.has_header()}};
  if (!csv_.encoding.empty()) source["encoding"] = csv_.encoding;
  const Json json = {{"source", source}, {"tensors", tensors}};
  return Recipe::from_json(json, "the recipe", Code::kBug).to_json();
}

}  // namespace dl::vectorize
