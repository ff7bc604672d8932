// The middle of dl-recipe(5) and the JSON Schema, made from the tables of
// recipes.

#include <sstream>

#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/series/series_settings.h"
#include "libcore/vectorize/steps/functions.h"

namespace dl::vectorize {
namespace {

constexpr std::size_t kPageWidth = 72;

// The words in lines, each but the first behind `indent`.
std::string in_lines(const std::string& text, const std::string& indent) {
  std::istringstream words(text);
  std::string all, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kPageWidth) {
      all += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + line;
}

// A '_' within a word begins nothing in scdoc, but in a cell of bold text.
std::string entry_of(const RecipeKey& key) {
  std::string fallback = key.required() ? "Required. " : "";
  if (!key.required() && key.fallback != "null")
    fallback = "Default: " + std::string(key.fallback) + ". ";
  return "*" + std::string(key.name) + "*: " + key.wanted() + "\n\t" +
         in_lines(fallback + std::string(key.doc), "\t") + "\n";
}

Json object_of(std::string_view type, std::string_view words,
               std::span<const RecipeKey> keys) {
  Json properties = {{"type", {{"const", type}}}};
  Json required = {"type"};
  for (const RecipeKey& key : keys) {
    properties[std::string(key.name)] = key.schema();
    if (key.required()) required.push_back(key.name);
  }
  return {{"type", "object"},     {"title", type},
          {"description", words}, {"properties", properties},
          {"required", required}, {"additionalProperties", false}};
}

std::string functions_page() {
  std::string text;
  const auto entry = [&](std::string_view name, std::string_view arguments,
                         std::string_view words) {
    text += "*" + std::string(name) + "*(" + std::string(arguments) + ")\n\t" +
            in_lines(std::string(words) + ".", "\t") + "\n\n";
  };
  for (const auto all : {formula_functions(), text_functions()})
    for (const FormulaFunction& function : all)
      entry(function.name, function.arguments, function.words);
  entry("matches", "text, 'pattern'",
        "whether a regular expression, in RE2's syntax, finds something in it");
  entry("extract", "text, 'pattern'",
        "the part that it finds, or that its first parentheses match; missing "
        "where there is none");
  return text;
}

Json step_object(const StepType& type) {
  Json properties = Json::object(), required = Json::array();
  for (const RecipeKey& key : type.keys) {
    properties[std::string(key.name)] = key.schema();
    if (key.required()) required.push_back(key.name);
  }
  return {{"type", "object"},          {"title", type.name},
          {"description", type.words}, {"properties", properties},
          {"required", required},      {"additionalProperties", false}};
}

}  // namespace

std::string recipe_page() {
  std::string text = "# SOURCES\n";
  const auto section = [&](const auto& type) {
    text += "\n## " + std::string(type.name) + "\n\n" +
            in_lines(std::string(type.words), "") + "\n";
    for (const RecipeKey& key : type.keys) text += "\n" + entry_of(key);
  };
  for (const SourceType& type : source_types()) section(type);
  text += "\n# STEPS\n";
  for (const StepType* type : step_types()) section(*type);
  text += "\n# FUNCTIONS\n\n" + functions_page();
  text += "# SERIES\n\n" + in_lines(kSeriesWords, "") + "\n";
  for (const RecipeKey& key : series_keys()) text += "\n" + entry_of(key);
  text += "\n# VECTORIZERS\n";
  for (const VectorizerType* type : vectorizer_types()) section(*type);
  return text;
}

Json recipe_schema() {
  Json sources = Json::array(), steps = Json::array(), tensors = Json::array();
  for (const SourceType& type : source_types())
    sources.push_back(object_of(type.name, type.words, type.keys));
  for (const StepType* type : step_types()) steps.push_back(step_object(*type));
  for (const VectorizerType* type : vectorizer_types())
    tensors.push_back(object_of(type->name, type->words, type->keys));
  Json series = object_of("series", kSeriesWords, series_keys());
  series["properties"].erase("type");
  series["required"] = {"window"};
  return {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "dl-recipe"},
      {"description", "How dl-tools make examples of raw data, dl-recipe(5)"},
      {"type", "object"},
      {"properties",
       {{"version", {{"const", 1}}},
        {"source", {{"oneOf", sources}}},
        {"series", series},
        {"steps", {{"type", "array"}, {"items", {{"oneOf", steps}}}}},
        {"tensors",
         {{"type", "object"},
          {"minProperties", 1},
          {"patternProperties",
           {{"^(features|labels)(/.+)?$|^id$",
             {{"anyOf",
               {{{"oneOf", tensors}},
                {{"type", "array"},
                 {"minItems", 1},
                 {"items", {{"oneOf", tensors}}}}}}}}}},
          {"additionalProperties", false}}},
        {"libraries", {{"type", "object"}}},
        {"fit", {{"type", "array"}}}}},
      {"required", {"source", "tensors"}},
      {"additionalProperties", false}};
}

}  // namespace dl::vectorize
