// Walks a document along the table of keys and lists what does not fit.

#include "libcore/nn/config_check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "libcore/nn/config_table.h"
#include "libcore/nn/layer_type.h"
#include "libcore/nn/other_names.h"

namespace dl::nn {
namespace {

constexpr double kMaxElements = 1099511627776;  // 2^40: see layout_of()

std::string shown(const Json& value) {
  std::string text = dump_json(value);
  if (text.size() > 40) text.replace(37, std::string::npos, "...");
  return text;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !text.empty() && text.size() <= 200 &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

// "layers[2]" + "units"; a key that is no plain name is quoted.
std::string join(const std::string& path, const std::string& key) {
  if (!is_name(key)) return path + "[" + shown(key) + "]";
  return path.empty() ? key : path + "." + key;
}

bool integer_in(const Json& value, std::string_view range) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return false;
  return interval_of(range).contains(
      static_cast<double>(value.get<std::int64_t>()));
}

// "lr" of "learning_rate".
std::string initials_of(const std::string& name) {
  std::string initials;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (i == 0 || name[i - 1] == '_') initials += name[i];
  return initials;
}

std::string suggest(const std::string& word,
                    const std::vector<std::string>& known) {
  if (const std::string ours = called_here(word, known); !ours.empty())
    return "; here it is called '" + ours + "'";
  std::string near = nearest(word, known);
  for (const std::string& name : known)
    if (near.empty() && word.size() > 1 && initials_of(name) == word)
      near = name;
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

class Checker {
 public:
  std::vector<std::string> problems;

  void object(const Json& value, std::string_view object,
              const std::string& path);

 private:
  void value(const Json& value, const Key& key, const std::string& path);
  void one_of(const Json& value, const Key& key, const std::string& path);
  void layers(const Json& value, const Key& key, const std::string& path);
  void pair_or_shape(const Json& value, const Key& key,
                     const std::string& path);
  void schedule(const Json& value, const Key& key, const std::string& path);
  void map(const Json& value, const Key& key, const std::string& path);
  void numbers(const Json& value, const Key& key, const std::string& path);
  void unknown(const std::string& name, std::string_view object,
               std::string_view tag, const std::string& path);
  void missing(const Json& value, std::string_view object, std::string_view tag,
               const std::string& path);
  void add(const std::string& path, const std::string& what) {
    problems.push_back(path.empty() ? what : path + ": " + what);
  }
  void mismatch(const Json& value, const Key& key, const std::string& path) {
    add(path, "want " + key.wanted() + ", got " + shown(value));
  }
};

void Checker::object(const Json& value, std::string_view object,
                     const std::string& path) {
  if (!value.is_object())
    return add(path,
               "want " + std::string(object) + " object, got " + shown(value));
  std::string tag;
  if (const Key* key = tag_of(object)) {
    // Without a valid tag the other keys are checked against those of any.
    const auto it = value.find(std::string(key->name));
    if (it != value.end() && it->is_string() &&
        std::count(key->values.begin(), key->values.end(),
                   it->get_ref<const std::string&>()) == 1)
      tag = it->get<std::string>();
  }
  for (const auto& [name, member] : value.items()) {
    if (const Key* key = find_key(object, tag, name))
      this->value(member, *key, join(path, name));
    else
      unknown(name, object, tag, path);
  }
  missing(value, object, tag, path);
}

void Checker::unknown(const std::string& name, std::string_view object,
                      std::string_view tag, const std::string& path) {
  const std::string place = join(path, name);
  if (object == "network" &&
      (name == "inputs" || name == "nodes" || name == "outputs"))
    return add(place, "graphs are not supported by this version");
  std::vector<std::string> known;
  // Without a tag, variants may have keys of the same name.
  for (const Key* key : keys_of(object, tag))
    if (std::ranges::find(known, key->name) == known.end())
      known.emplace_back(key->name);
  const std::string kind =
      std::string(tag) + (tag.empty() ? "" : " ") + std::string(object);
  const bool elsewhere = find_key(object, "", name) != nullptr;
  std::string what = elsewhere ? "not a key of " + kind : "unknown key";
  std::string hint = suggest(name, known);
  if (hint.empty()) {
    for (const std::string& k : known) hint += (hint.empty() ? "" : ", ") + k;
    hint = "; the keys of " + kind + " are " + hint;
  }
  add(place, what + hint);
}

void Checker::missing(const Json& value, std::string_view object,
                      std::string_view tag, const std::string& path) {
  const Key* tag_key = tag_of(object);
  const bool graph = object == "network" && value.contains("nodes");
  for (const Key* key : keys_of(object, tag)) {
    if (!key->required() || value.contains(std::string(key->name))) continue;
    if (tag.empty() && tag_key && key != tag_key) continue;  // not known yet
    if (graph) continue;
    add(join(path, std::string(key->name)), "missing; want " + key->wanted());
  }
}

void Checker::one_of(const Json& value, const Key& key,
                     const std::string& path) {
  if (!value.is_string()) return mismatch(value, key, path);
  const auto& word = value.get_ref<const std::string&>();
  if (std::count(key.values.begin(), key.values.end(), word) == 1) return;
  const std::vector<std::string> known(key.values.begin(), key.values.end());
  add(path,
      "want " + key.wanted() + ", got " + shown(value) + suggest(word, known));
}

void Checker::pair_or_shape(const Json& value, const Key& key,
                            const std::string& path) {
  const bool pair = key.kind == Kind::kPair;
  if (!value.is_array() || value.size() < (pair ? 2 : 1) ||
      value.size() > (pair ? 2 : 7))
    return mismatch(value, key, path);
  for (std::size_t i = 0; i < value.size(); ++i)
    if (!integer_in(value[i], key.range))
      add(path + "[" + std::to_string(i) + "]", "want integer " +
                                                    std::string(key.range) +
                                                    ", got " + shown(value[i]));
  double elements = 1;
  for (const Json& extent : value)
    if (extent.is_number()) elements *= extent.get<double>();
  if (!pair && !(elements <= kMaxElements))
    add(path, "an example of more than 2^40 numbers");
}

void Checker::numbers(const Json& value, const Key& key,
                      const std::string& path) {
  if (!value.is_array() || value.empty()) return mismatch(value, key, path);
  Key one = key;
  one.kind = Kind::kNumber;
  for (std::size_t i = 0; i < value.size(); ++i)
    this->value(value[i], one, path + "[" + std::to_string(i) + "]");
}

void Checker::layers(const Json& value, const Key& key,
                     const std::string& path) {
  if (!value.is_array() || value.empty()) return mismatch(value, key, path);
  for (std::size_t i = 0; i < value.size(); ++i)
    object(value[i], key.of, path + "[" + std::to_string(i) + "]");
}

void Checker::schedule(const Json& value, const Key& key,
                       const std::string& path) {
  const std::size_t before = problems.size();
  object(value, key.of, path);
  const Interval range = interval_of(key.range);
  if (problems.size() == before && std::isfinite(range.high) &&
      !range.contains(schedule_of(value).largest()))
    add(path, "leaves " + std::string(key.range));
}

void Checker::map(const Json& value, const Key& key, const std::string& path) {
  if (!value.is_object() || !value.contains("0"))
    return mismatch(value, key, path);
  Key one = key;
  one.kind = Kind::kNumber;
  for (const auto& [name, number] : value.items()) {
    std::int64_t count = 0;
    const auto [end, error] =
        std::from_chars(name.data(), name.data() + name.size(), count);
    if (error != std::errc() || count < 0 || std::to_string(count) != name)
      add(join(path, name), "want an integer from 0 on as the name");
    this->value(number, one, join(path, name));
  }
}

void Checker::value(const Json& value, const Key& key,
                    const std::string& path) {
  const auto expect = [&](bool fits) {
    if (!fits) mismatch(value, key, path);
  };
  const auto number = [&] {
    return value.is_number() &&
           interval_of(key.range).contains(value.get<double>());
  };
  switch (key.kind) {
    case Kind::kTag:
    case Kind::kOneOf:
      return one_of(value, key, path);
    case Kind::kInteger:
      return expect(integer_in(value, key.range));
    case Kind::kNumber:
      return expect(number());
    case Kind::kBoolean:
      return expect(value.is_boolean());
    case Kind::kName:
      return expect(value.is_string() &&
                    is_name(value.get_ref<const std::string&>()));
    case Kind::kShape:
    case Kind::kPair:
      return pair_or_shape(value, key, path);
    case Kind::kNumbers:
      return numbers(value, key, path);
    case Kind::kLayers:
      return layers(value, key, path);
    case Kind::kObject:
      return object(value, key.of, path);
    case Kind::kNumberOrObject:
      return value.is_object() ? schedule(value, key, path) : expect(number());
    case Kind::kMap:
      return map(value, key, path);
    case Kind::kTagOrObject: {
      if (value.is_object()) return object(value, key.of, path);
      if (!value.is_string()) return expect(false);
      const Key& tag = *tag_of(key.of);
      const std::size_t before = problems.size();
      one_of(value, tag, path);
      if (problems.size() == before)
        missing({{std::string(tag.name), value}}, key.of,
                value.get_ref<const std::string&>(), path);
      return;
    }
  }
}

std::string place(std::size_t layer, std::string_view key) {
  return "layers[" + std::to_string(layer) + "]." + std::string(key) + ": ";
}

}  // namespace

std::vector<std::string> check_document(const Json& document) {
  Checker checker;
  checker.object(document, "network", "");
  return std::move(checker.problems);
}

std::vector<std::string> check_meaning(const NetworkConfig& config) {
  std::vector<std::string> problems;
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const LayerConfig& layer = config.layers[i];
    const auto [first, fresh] = names.emplace(layer.name, i);
    if (!fresh)
      problems.push_back(place(i, "name") + "'" + layer.name +
                         "' is the name of layers[" +
                         std::to_string(first->second) + "] already");
    if (layer.name == "updater" || layer.name == "training")
      problems.push_back(place(i, "name") + "'" + layer.name +
                         "' is reserved; choose another name");
    const bool last = i + 1 == config.layers.size();
    if (last != (layer.type->output != nullptr))
      problems.push_back(place(i, "type") +
                         (last ? "the last layer must be an output layer, got '"
                               : "only the last layer may be of type '") +
                         std::string(layer.type->name) + "'");
    if (layer.type->check)
      layer.type->check(layer.settings,
                        [&](std::string_view key, const std::string& what) {
                          problems.push_back(place(i, key) + what);
                        });
  }
  if (config.tbptt_length > 0 &&
      std::none_of(config.layers.begin(), config.layers.end(),
                   [](const auto& l) { return l.type->recurrent; }))
    problems.push_back("tbptt_length: the network has no recurrent layer");
  return problems;
}

}  // namespace dl::nn
