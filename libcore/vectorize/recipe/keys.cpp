#include "libcore/vectorize/recipe/keys.h"

#include <algorithm>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/source/encoding.h"
#include "libcore/vectorize/steps/formula.h"
#include "libcore/vectorize/table/pattern.h"

namespace dl::vectorize {
namespace {

std::string range_of(const RecipeKey& key) {
  return std::to_string(key.low) + ".." + std::to_string(key.high);
}

bool in_range(const Json& value, const RecipeKey& key) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return false;
  const auto number = value.get<std::int64_t>();
  return number >= key.low && number <= key.high;
}

bool is_text(const Json& value) {
  return value.is_string() && !value.get_ref<const std::string&>().empty();
}

bool are_texts(const Json& value) {
  if (!value.is_array() || value.empty()) return false;
  std::set<std::string> seen;
  return std::ranges::all_of(value, [&](const Json& one) {
    return is_text(one) && seen.insert(one.get<std::string>()).second;
  });
}

bool is_scalar(const Json& value) {
  return value.is_string() || value.is_number() || value.is_boolean();
}

std::string text_of_scalar(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump_json(value);
}

bool fits(const Json& value, const RecipeKey& key) {
  switch (key.kind) {
    case KeyKind::kInteger:
      return in_range(value, key);
    case KeyKind::kPair:
      return value.is_array() && value.size() == 2 && in_range(value[0], key) &&
             in_range(value[1], key);
    case KeyKind::kBoolean:
      return value.is_boolean();
    case KeyKind::kOneOf:
      return value.is_string() &&
             std::ranges::find(key.words,
                               value.get_ref<const std::string&>()) !=
                 key.words.end();
    case KeyKind::kText:
    case KeyKind::kPattern:  // problem() looks closer
      return is_text(value);
    case KeyKind::kDelimiter:
      return value.is_string() &&
             is_delimiter(value.get_ref<const std::string&>());
    case KeyKind::kEncoding:
      return value.is_string() &&
             is_encoding(value.get_ref<const std::string&>());
    case KeyKind::kIntegers:
      return value.is_array() && !value.empty() &&
             std::ranges::all_of(
                 value, [&](const Json& one) { return in_range(one, key); });
    case KeyKind::kTexts:
      return are_texts(value);
    case KeyKind::kWords:
      return value.is_array() && std::ranges::all_of(value, [](const Json& v) {
               return v.is_string();
             });
    case KeyKind::kAnyText:
      return value.is_string();
    case KeyKind::kColumns:
      return is_text(value) || are_texts(value);
    case KeyKind::kTextMap:
      return value.is_object() && !value.empty() &&
             std::ranges::all_of(value, is_scalar);
    case KeyKind::kScalar:
      return is_scalar(value);
    case KeyKind::kFormula:  // problem() looks closer
      return is_text(value);
    case KeyKind::kNumber:
      return value.is_number();
    case KeyKind::kNumbers:
      return value.is_array() && std::ranges::all_of(value, [](const Json& v) {
               return v.is_number();
             });
  }
  return false;
}

bool has_zero_byte(const Json& value) {
  if (value.is_array()) return std::ranges::any_of(value, has_zero_byte);
  return value.is_string() &&
         value.get_ref<const std::string&>().find('\0') != std::string::npos;
}

}  // namespace

std::string RecipeKey::wanted() const {
  switch (kind) {
    case KeyKind::kInteger:
      return "integer " + range_of(*this);
    case KeyKind::kPair:
      return std::string(of) + ", integers " + range_of(*this);
    case KeyKind::kBoolean:
      return "true or false";
    case KeyKind::kOneOf: {
      std::string text;
      for (const std::string_view word : words)
        text.append(text.empty() ? "one of " : ", ").append(word);
      return text;
    }
    case KeyKind::kText:
      return "text";
    case KeyKind::kPattern:
      return "regular expression";
    case KeyKind::kDelimiter:
      return "one character (or \\t)";
    case KeyKind::kEncoding:
      return "encoding that iconv -l lists";
    case KeyKind::kIntegers:
      return "array of integers " + range_of(*this);
    case KeyKind::kTexts:
      return "array of texts, each once";
    case KeyKind::kWords:
      return "array of texts";
    case KeyKind::kAnyText:
      return "text";
    case KeyKind::kColumns:
      return "text, or array of texts, each once";
    case KeyKind::kTextMap:
      return "object of texts";
    case KeyKind::kScalar:
      return "text, number, true or false";
    case KeyKind::kFormula:
      return "formula";
    case KeyKind::kNumber:
      return "number";
    case KeyKind::kNumbers:
      return "array of numbers";
  }
  return "";
}

std::string RecipeKey::problem(const Json& value) const {
  if (has_zero_byte(value)) return "has a zero byte, which text has not";
  if (fits(value, *this)) {
    if (kind == KeyKind::kPattern) try {
        (void)Pattern(value.get<std::string>(), Code::kConfig);
      } catch (const Error& e) {
        return e.what();
      }
    if (kind == KeyKind::kFormula) try {
        check_formula(value.get<std::string>());
      } catch (const Error& e) {
        return "'" + clipped(value.get<std::string>()) + "': " + e.what();
      }
    return "";
  }
  std::string text = "want " + wanted() + ", got " + clipped(dump_json(value));
  if (kind != KeyKind::kOneOf || !value.is_string()) return text;
  const std::string near =
      nearest(value.get<std::string>(), {words.begin(), words.end()});
  return near.empty() ? text : text + "; did you mean '" + near + "'?";
}

Json RecipeKey::schema() const {
  Json json;
  switch (kind) {
    case KeyKind::kInteger:
      json = {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
      break;
    case KeyKind::kPair:
      json = {
          {"type", "array"},
          {"items", {{"type", "integer"}, {"minimum", low}, {"maximum", high}}},
          {"minItems", 2},
          {"maxItems", 2}};
      break;
    case KeyKind::kBoolean:
      json = {{"type", "boolean"}};
      break;
    case KeyKind::kOneOf:
      json = {{"enum", words}};
      break;
    case KeyKind::kText:
    case KeyKind::kPattern:
    case KeyKind::kDelimiter:
    case KeyKind::kEncoding:
    case KeyKind::kFormula:
      json = {{"type", "string"}, {"minLength", 1}};
      break;
    case KeyKind::kIntegers:
      json = {
          {"type", "array"},
          {"items", {{"type", "integer"}, {"minimum", low}, {"maximum", high}}},
          {"minItems", 1}};
      break;
    case KeyKind::kTexts:
      json = {{"type", "array"},
              {"items", {{"type", "string"}, {"minLength", 1}}},
              {"minItems", 1},
              {"uniqueItems", true}};
      break;
    case KeyKind::kWords:
      json = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case KeyKind::kAnyText:
      json = {{"type", "string"}};
      break;
    case KeyKind::kColumns:
      json = {{"anyOf",
               {{{"type", "string"}, {"minLength", 1}},
                {{"type", "array"},
                 {"items", {{"type", "string"}, {"minLength", 1}}},
                 {"minItems", 1},
                 {"uniqueItems", true}}}}};
      break;
    case KeyKind::kTextMap:
      json = {
          {"type", "object"},
          {"additionalProperties", {{"type", {"string", "number", "boolean"}}}},
          {"minProperties", 1}};
      break;
    case KeyKind::kScalar:
      json = {{"type", {"string", "number", "boolean"}}};
      break;
    case KeyKind::kNumber:
      json = {{"type", "number"}};
      break;
    case KeyKind::kNumbers:
      json = {{"type", "array"}, {"items", {{"type", "number"}}}};
      break;
  }
  json["description"] = doc;
  if (!required() && fallback != "null")
    json["default"] = parse_json(fallback, "a default", Code::kBug);
  return json;
}

void check_keys(const Json& object, std::span<const RecipeKey> keys,
                const std::string& path, std::vector<std::string>& problems) {
  std::vector<std::string> names;
  for (const RecipeKey& key : keys) names.emplace_back(key.name);
  for (const auto& [name, value] : object.items()) {
    const auto key = std::ranges::find(keys, name, &RecipeKey::name);
    std::string what;
    if (key != keys.end()) {
      what = key->problem(value);
    } else {
      what = "unknown key";
      const std::string near = nearest(name, names);
      if (!near.empty()) what += "; did you mean '" + near + "'?";
    }
    if (!what.empty())
      problems.push_back(path + "." + displayed(name) + ": " + what);
  }
  for (const RecipeKey& key : keys)
    if (key.required() && !object.contains(std::string(key.name)))
      problems.push_back(path + "." + std::string(key.name) +
                         ": missing; want " + key.wanted());
}

RecipeSettings::RecipeSettings(const Json& given,
                               std::span<const RecipeKey> keys, RecipeFrom from)
    : from_(from) {
  for (const RecipeKey& key : keys) {
    const std::string name(key.name);
    if (given.contains(name))
      values_[name] = given.at(name);
    else if (!key.required() && key.fallback != "null")
      values_[name] = parse_json(key.fallback, "a default", Code::kBug);
  }
}

const Json& RecipeSettings::at(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  require(found != values_.end(), "a setting that a recipe does not have");
  return *found;
}

std::string RecipeSettings::remedy(std::string_view option,
                                   std::string_view key) const {
  return from_ == RecipeFrom::kOptions
             ? std::string(option)
             : "\"" + std::string(key) + "\" of the recipe";
}

bool RecipeSettings::has(std::string_view name) const {
  return values_.contains(std::string(name));
}
std::int64_t RecipeSettings::integer(std::string_view name) const {
  return at(name).get<std::int64_t>();
}
std::vector<std::int64_t> RecipeSettings::integers(
    std::string_view name) const {
  return at(name).get<std::vector<std::int64_t>>();
}
bool RecipeSettings::flag(std::string_view name) const {
  return at(name).get<bool>();
}
std::string RecipeSettings::text(std::string_view name) const {
  return at(name).get<std::string>();
}
std::vector<std::string> RecipeSettings::texts(std::string_view name) const {
  return at(name).get<std::vector<std::string>>();
}
std::vector<std::string> RecipeSettings::list(std::string_view name) const {
  return at(name).is_array() ? texts(name) : std::vector{text(name)};
}
std::string RecipeSettings::scalar(std::string_view name) const {
  return text_of_scalar(at(name));
}
std::map<std::string, std::string> RecipeSettings::text_map(
    std::string_view name) const {
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : at(name).items())
    all.emplace(key, text_of_scalar(value));
  return all;
}
double RecipeSettings::number(std::string_view name) const {
  return at(name).get<double>();
}
std::vector<double> RecipeSettings::numbers(std::string_view name) const {
  return at(name).get<std::vector<double>>();
}
std::size_t RecipeSettings::word(
    std::string_view name, std::span<const std::string_view> words) const {
  const auto found = std::ranges::find(words, text(name));
  require(found != words.end(), "a word that a recipe does not have");
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace dl::vectorize
