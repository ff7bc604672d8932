// The table put together, how it is searched and what its keys say.

#include "libcore/nn/config/config_table.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "libcore/nn/config/keys.h"

namespace dl::nn {
namespace {

// A node has the keys of a layer as well.
bool is_of(const Key& key, std::string_view object) {
  return key.object == object || (object == "node" && key.object == "layer");
}

std::string integers(std::string_view range) {
  return "integers " + std::string(range);
}

std::string number_in(std::string_view range) {
  if (range.empty()) return "number";
  const Interval i = interval_of(range);
  if (i.low == 0 && i.high == std::numeric_limits<double>::infinity())
    return i.low_open ? "number > 0" : "number >= 0";
  return "number in " + std::string(range);
}

std::string numbers_in(std::string_view range) {
  return number_in(range).replace(0, 6, "numbers");
}

std::string one_of(std::span<const std::string_view> values) {
  std::string text;
  for (const std::string_view value : values)
    text.append(text.empty() ? "" : ", ").append(value);
  return "one of " + text;
}

}  // namespace

// But for the variants.
bool Key::operator==(const Key& other) const {
  return object == other.object && name == other.name && kind == other.kind &&
         fallback == other.fallback && doc == other.doc &&
         range == other.range && of == other.of &&
         std::ranges::equal(values, other.values);
}

Json Key::default_value() const {
  if (required() || fallback.starts_with('(')) return nullptr;
  return parse_json(fallback, "a default", Code::kBug);
}

std::string Key::wanted() const {
  switch (kind) {
    case Kind::kTag:
      // They are too many for a line.
      if (object == "layer") return "a type that 'man dl-layers' lists";
      return one_of(values);
    case Kind::kOneOf:
      return one_of(values);
    case Kind::kInteger:
      return "integer " + std::string(range);
    case Kind::kNumber:
      return number_in(range);
    case Kind::kBoolean:
      return "true or false";
    case Kind::kName:
      return "a name of letters, digits, '_', '-', '.'";
    case Kind::kNames:
      return "a name, or an array of names";
    case Kind::kShape:
      return "array of 1 to 7 " + integers(range);
    case Kind::kTuple:
      return std::string(of) + ", " + integers(range);
    case Kind::kPair:
      return std::string(of) + ", " + numbers_in(range);
    case Kind::kNumbers:
      return "array of " + numbers_in(range);
    case Kind::kObject:
      return std::string(of) + " object";
    case Kind::kObjects:
      return "array of one or more " + std::string(of) + " objects";
    case Kind::kNumberOrObject:
      return number_in(range) + ", or " + std::string(of) + " object";
    case Kind::kMap:
      return "object of numbers" + number_in(range).substr(6) +
             " by integer, one for 0";
    case Kind::kTagOrObject:
      return std::string(of) + " name or object";
    case Kind::kClassWeights:
      return "array of " + numbers_in(range) +
             R"(, object of them by class, or "balanced")";
  }
  return {};
}

std::size_t Key::places() const {
  return 1 + static_cast<std::size_t>(std::ranges::count(of, ','));
}

bool Key::belongs_to(std::string_view tag) const {
  if (variants.empty() || tag.empty()) return true;
  for (std::size_t at = 0; at < variants.size();) {
    const std::size_t end = std::min(variants.find(' ', at), variants.size());
    if (std::string_view(variants).substr(at, end - at) == tag) return true;
    at = end + 1;
  }
  return false;
}

bool Interval::contains(double x) const {
  return (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high);
}

Interval interval_of(std::string_view range) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Interval interval{-kInf, kInf, true, true};
  if (range.empty()) return interval;
  const auto number = [](std::string_view text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  if (const auto dots = range.find(".."); dots != std::string_view::npos)
    return {number(range.substr(0, dots)), number(range.substr(dots + 2)),
            false, false};
  const auto comma = range.find(", ");
  interval.low = number(range.substr(1, comma - 1));
  interval.low_open = range.front() == '(';
  const std::string_view high =
      range.substr(comma + 2, range.size() - comma - 3);
  interval.high = high == "inf" ? kInf : number(high);
  interval.high_open = range.back() == ')';
  return interval;
}

std::span<const Key> all_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all = object_keys();
    std::ranges::move(augment_keys(), std::back_inserter(all));
    std::ranges::move(layer_keys(), std::back_inserter(all));
    return all;
  }();
  return keys;
}

const Key* tag_of(std::string_view object) {
  for (const Key& key : all_keys())
    if (is_of(key, object) && key.kind == Kind::kTag) return &key;
  return nullptr;
}

std::vector<std::string_view> kinds_of(std::string_view object) {
  if (object == "network") return {"sequence", "graph"};
  const Key* tag = tag_of(object);
  if (tag == nullptr) return {""};
  return {tag->values.begin(), tag->values.end()};
}

std::string kind_of(std::string_view object, const Json& value) {
  if (object == "network") {
    for (const char* key : {"inputs", "nodes", "outputs"})
      if (value.contains(key)) return "graph";
    return "sequence";
  }
  const Key* tag = tag_of(object);
  if (tag == nullptr) return "";
  const auto it = value.find(std::string(tag->name));
  const bool known =
      it != value.end() && it->is_string() &&
      std::ranges::count(tag->values, it->get_ref<const std::string&>()) == 1;
  return known ? it->get<std::string>() : "";
}

std::vector<const Key*> keys_of(std::string_view object, std::string_view tag) {
  std::vector<const Key*> found;
  for (const Key& key : all_keys())
    if (is_of(key, object) && key.belongs_to(tag)) found.push_back(&key);
  return found;
}

const Key* find_key(std::string_view object, std::string_view tag,
                    std::string_view name) {
  for (const Key* key : keys_of(object, tag))
    if (key->name == name) return key;
  return nullptr;
}

}  // namespace dl::nn
