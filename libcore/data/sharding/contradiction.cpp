// Comparison of streams that are to be taken as one.

#include "libcore/data/sharding/contradiction.h"

#include <algorithm>

#include "libcore/base/display.h"

namespace dl::data {
namespace {

using Names = std::vector<std::string>;
using Schema = std::map<std::string, Field>;

// Some names, from shortly before the place where they differ from others.
std::string listed(const Names& names, std::size_t differ) {
  constexpr std::size_t kMost = 5;
  const std::size_t first = differ < kMost ? 0 : differ - 1;
  const std::size_t end = std::min(names.size(), first + kMost);
  std::string text = first > 0 ? "..., " : "";
  for (std::size_t i = first; i < end; ++i)
    text += (i > first ? ", " : "") + in_quotes(names[i]);
  return end < names.size() ? text + ", ..." : text;
}

std::string difference(const std::string& what, const Names& before,
                       const Names& next, const Sides& names) {
  if (before.empty() || next.empty() || before == next) return "";
  const auto at =
      std::mismatch(before.begin(), before.end(), next.begin(), next.end());
  const auto differ = static_cast<std::size_t>(at.first - before.begin());
  return names.next + " has " + what + " " + listed(next, differ) + "; " +
         names.before + " has " + listed(before, differ);
}

std::string remedy(const std::string& tensor) {
  if (tensor == "index")
    return "; dl-preprocess numbers examples where it may leave some out: give "
           "it --max-bad, --missing skip and --longer skip for both, or "
           "neither";
  if (tensor == "id") return "; give dl-preprocess --id for both, or neither";
  return "";
}

std::string only_in(const std::string& tensor, const std::string& has,
                    const std::string& lacks) {
  return has + " has the tensor " + in_quotes(tensor) + ", and " + lacks +
         " has none" + remedy(tensor);
}

std::string difference(const Schema& before, const Schema& next,
                       const Sides& names) {
  if (before.empty() || next.empty()) return "";
  // The name of examples is compared last: it matters least.
  std::string of_names;
  const auto note = [&](const std::string& tensor, const std::string& text) {
    if (names_example(tensor) && of_names.empty()) of_names = text;
    return names_example(tensor) ? "" : text;
  };
  for (const auto& [tensor, field] : next) {
    const auto other = before.find(tensor);
    std::string text;
    if (other == before.end())
      text = note(tensor, only_in(tensor, names.next, names.before));
    else if (!(other->second == field))
      text = note(tensor, names.next + " has the tensor " + in_quotes(tensor) +
                              " as " + describe(field) + " an example; " +
                              names.before + " has " + describe(other->second));
    if (!text.empty()) return text;
  }
  for (const auto& [tensor, field] : before)
    if (!next.contains(tensor)) {
      std::string text =
          note(tensor, only_in(tensor, names.before, names.next));
      if (!text.empty()) return text;
    }
  return of_names;
}

// Difference between two descriptions; `of` is " of 'left'", or "".
std::string difference(const About& before, const About& next,
                       const std::string& of, const Sides& names) {
  std::string text =
      difference("classes" + of, before.classes, next.classes, names);
  if (text.empty())
    text = difference("columns" + of, before.columns, next.columns, names);
  if (text.empty())
    text = difference("targets" + of, before.targets, next.targets, names);
  return text;
}

// The parts of a recipe that must agree.  Columns of tables are found by name,
// and compared as such; how a file is read is no part of an example.
Json meaning_of(Json recipe) {
  recipe.erase("libraries");
  if (recipe.contains("series") && recipe["series"].is_object())
    for (const char* found : {"naive", "baseline"})
      recipe["series"].erase(found);
  const auto type_of = [](const Json& object) {
    return object.is_object() ? object.value("type", Json()) : Json();
  };
  const Json source =
      recipe.contains("source") ? type_of(recipe["source"]) : Json();
  if ((source != "csv" && source != "jsonl") || !recipe.contains("tensors") ||
      !recipe["tensors"].is_object())
    return recipe;
  Json tensors = Json::object();
  for (auto& [name, tensor] : recipe["tensors"].items()) {
    if (!name.starts_with("features") || !tensor.is_structured()) continue;
    const auto strip = [&](Json& part) {
      if (!part.is_object()) return;
      part.erase("na");
      if (type_of(part) == "number") part.erase("from");
    };
    if (tensor.is_array())
      for (Json& part : tensor) strip(part);
    else
      strip(tensor);
    tensors[name] = tensor;
  }
  return {{"tensors", tensors}};
}

// Drops tensors that the other one lacks: schemas tell of those that matter.
void keep_common_tensors(Json& recipe, const Json& other) {
  if (!recipe.contains("tensors") || !other.contains("tensors")) return;
  Json common = Json::object();
  for (const auto& [name, tensor] : recipe["tensors"].items())
    if (other["tensors"].contains(name)) common[name] = tensor;
  recipe["tensors"] = common;
}

}  // namespace

std::string difference_of_recipes(Json before, Json next, const Sides& names) {
  if (!before.is_object() || !next.is_object()) return "";
  before = meaning_of(std::move(before));
  next = meaning_of(std::move(next));
  keep_common_tensors(before, Json(next));
  keep_common_tensors(next, before);
  const Json changes = Json::diff(before, next);
  if (changes.empty()) return "";
  return names.next + " was made by another recipe than " + names.before +
         ", with another " +
         displayed(changes[0].at("path").get<std::string>().substr(1));
}

std::string describe(const Field& field) {
  const std::string plain =
      std::string(tensor::name_of(field.dtype)) + field.shape.to_string();
  return field.encoding == Encoding::kNone
             ? plain
             : plain + " (" + std::string(name_of(field.encoding)) + ")";
}

std::string contradiction(const Metadata& before, const Metadata& next,
                          const Sides& names) {
  std::string text = difference(before.schema, next.schema, names);
  if (text.empty()) text = difference(before, next, "", names);
  for (const auto& [name, about] : next.parts) {
    const auto other = before.parts.find(name);
    if (text.empty() && other != before.parts.end())
      text = difference(other->second, about, " of '" + displayed(name) + "'",
                        names);
  }
  if (text.empty())
    text = difference_of_recipes(before.recipe, next.recipe, names);
  return text;
}

}  // namespace dl::data
