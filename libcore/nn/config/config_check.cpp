// Walks a document along the table of keys and lists what does not fit.

#include "libcore/nn/config/config_check.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "libcore/base/names.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/config/other_names.h"
#include "libcore/nn/data/target_range.h"

namespace dl::nn {
namespace {

constexpr double kMaxElements = 1099511627776;  // 2^40: see layout_of()

std::string shown(const Json& value) {
  std::string text = dump_json(value);
  if (text.size() > 40) text.replace(37, std::string::npos, "...");
  return text;
}

// A name, or some.
bool are_names(const Json& value) {
  const auto one = [](const Json& name) {
    return name.is_string() &&
           is_plain_name(name.get_ref<const std::string&>());
  };
  if (!value.is_array()) return one(value);
  return !value.empty() && std::ranges::all_of(value, one);
}

// Whether another layer takes what this one gives.
bool is_read(const NetworkConfig& config, const LayerConfig& layer) {
  const Value own =
      config.value_of(static_cast<std::size_t>(&layer - config.layers.data()));
  return std::ranges::any_of(config.layers, [&](const LayerConfig& other) {
    return std::ranges::count(other.from, own) > 0 || other.target == own;
  });
}

// "layers[2]" + "units"; a key that is no plain name is quoted.
std::string join(const std::string& path, const std::string& key) {
  if (!is_plain_name(key)) return path + "[" + shown(key) + "]";
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
    return "; here it is called '" + ours + "'" +
           (ours == "rate" && is_share_kept(word)
                ? ", the share that is dropped"
                : "");
  std::string near = nearest(word, known);
  for (const std::string& name : known)
    if (near.empty() && word.size() > 1 && initials_of(name) == word)
      near = name;
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

// Names that share a word of three letters or more with it: for
// "self_attention"
// "; like it are 'multi_head_attention', ...".
std::string akin_to(const std::string& word,
                    const std::vector<std::string>& known) {
  std::vector<std::string> words(1);
  for (const char c : word) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) words.emplace_back();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::tolower(c));
    else
      words.emplace_back();
  }
  std::erase_if(words, [](const std::string& w) { return w.size() < 3; });
  std::string akin;
  for (const std::string& name : known)
    if (std::ranges::any_of(words, [&](const std::string& w) {
          return name.find(w) != std::string::npos;
        }))
      akin += (akin.empty() ? "; like it are '" : ", '") + name + "'";
  return akin;
}

class Checker {
 public:
  std::vector<std::string> problems;

  void object(const Json& value, std::string_view object,
              const std::string& path);

 private:
  void value(const Json& value, const Key& key, const std::string& path);
  void one_of(const Json& value, const Key& key, const std::string& path);
  void objects(const Json& value, const Key& key, const std::string& path);
  void tuple_or_shape(const Json& value, const Key& key,
                      const std::string& path);
  void schedule(const Json& value, const Key& key, const std::string& path);
  void map(const Json& value, const Key& key, const std::string& path);
  void numbers(const Json& value, const Key& key, const std::string& path);
  void pair(const Json& value, const Key& key, const std::string& path);
  void class_weights(const Json& value, const Key& key,
                     const std::string& path);
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
  if (!value.is_object()) {
    const bool named =
        value.is_string() &&
        (object == "updater" || object == "layer" || object == "augment");
    return add(path,
               "want " + std::string(object) + " object" +
                   (named ? ", as {\"type\": " + shown(value) + "}" : "") +
                   ", got " + shown(value));
  }
  // Without a valid tag the other keys are checked against those of any.
  const std::string tag = kind_of(object, value);
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
  std::vector<std::string> known;
  // Without a tag, variants may have keys of the same name.
  for (const Key* key : keys_of(object, tag))
    if (std::ranges::find(known, key->name) == known.end())
      known.emplace_back(key->name);
  std::string kind(tag);
  if (object == "network")
    kind = tag == "graph" ? "a network with nodes" : "a network with layers";
  else
    kind.append(tag.empty() ? "" : " ").append(object);
  const bool elsewhere = find_key(object, "", name) != nullptr;
  std::string what = elsewhere ? "not a key of " + kind : "unknown key";
  std::string hint = suggest(name, known);
  if (hint.empty()) {
    for (const std::string& k : known) hint += (hint.empty() ? "" : ", ") + k;
    hint = "; the keys of " + kind + " are " + hint;
  }
  add(join(path, name), what + hint);
}

void Checker::missing(const Json& value, std::string_view object,
                      std::string_view tag, const std::string& path) {
  const Key* tag_key = tag_of(object);
  const bool shares = object == "node" && value.contains("shares");
  for (const Key* key : keys_of(object, tag)) {
    if (!key->required() || value.contains(std::string(key->name))) continue;
    if (tag.empty() && tag_key && key != tag_key) continue;  // not known yet
    if (shares && key != tag_key) continue;                  // it says them
    add(join(path, std::string(key->name)), "missing; want " + key->wanted());
  }
}

void Checker::one_of(const Json& value, const Key& key,
                     const std::string& path) {
  if (!value.is_string()) return mismatch(value, key, path);
  const auto& word = value.get_ref<const std::string&>();
  if (std::count(key.values.begin(), key.values.end(), word) == 1) return;
  const std::vector<std::string> known(key.values.begin(), key.values.end());
  std::string hint = suggest(word, known);
  if (hint.empty()) hint = akin_to(word, known);
  if (const auto instead = key_in_place_of(word);
      key.name == "type" && !instead.empty())
    hint = "; here that is a key of layers, '" + std::string(instead) +
           "', see dl-network(5)";
  add(path, "want " + key.wanted() + ", got " + shown(value) + hint);
}

void Checker::tuple_or_shape(const Json& value, const Key& key,
                             const std::string& path) {
  const bool tuple = key.kind == Kind::kTuple;
  if (!value.is_array() || value.size() < (tuple ? key.places() : 1) ||
      value.size() > (tuple ? key.places() : 7))
    return mismatch(value, key, path);
  for (std::size_t i = 0; i < value.size(); ++i)
    if (!integer_in(value[i], key.range))
      add(path + "[" + std::to_string(i) + "]", "want integer " +
                                                    std::string(key.range) +
                                                    ", got " + shown(value[i]));
  double elements = 1;
  for (const Json& extent : value)
    if (extent.is_number()) elements *= extent.get<double>();
  if (!tuple && !(elements <= kMaxElements))
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

void Checker::pair(const Json& value, const Key& key, const std::string& path) {
  if (!value.is_array() || value.size() != 2) return mismatch(value, key, path);
  const std::size_t before = problems.size();
  numbers(value, key, path);
  if (problems.size() == before && key.of == "[low, high]" &&
      value[0].get<double>() > value[1].get<double>())
    add(path, "want the smaller number first, got " + shown(value));
}

// The data say what classes there are.
void Checker::class_weights(const Json& value, const Key& key,
                            const std::string& path) {
  if (value == "balanced") return;
  if (!value.is_object()) return numbers(value, key, path);
  if (value.empty()) return mismatch(value, key, path);
  Key one = key;
  one.kind = Kind::kNumber;
  for (const auto& [name, number] : value.items())
    this->value(number, one, join(path, name));
}

void Checker::objects(const Json& value, const Key& key,
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
                    is_plain_name(value.get_ref<const std::string&>()));
    case Kind::kShape:
    case Kind::kTuple:
      return tuple_or_shape(value, key, path);
    case Kind::kNumbers:
      return numbers(value, key, path);
    case Kind::kPair:
      return pair(value, key, path);
    case Kind::kClassWeights:
      return class_weights(value, key, path);
    case Kind::kNames:
      return expect(are_names(value));
    case Kind::kObjects:
      return objects(value, key, path);
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

}  // namespace

std::vector<std::string> check_document(const Json& document) {
  Checker checker;
  checker.object(document, "network", "");
  return std::move(checker.problems);
}

namespace {

// The numbers that an activation gives, at most.
Bounds given_by(const device::ActivationSpec& f) {
  using device::Activation;
  switch (f.kind) {
    case Activation::kSigmoid:
    case Activation::kSoftmax:
    case Activation::kHardSigmoid:
    case Activation::kRectifiedTanh:
      return {.least = 0, .most = 1};
    case Activation::kRelu:
    case Activation::kRelu6:
    case Activation::kSoftplus:
    case Activation::kExp:
    case Activation::kThresholdedRelu:
      return {.least = 0};
    default:
      return {};
  }
}

// Labels are looked at when they come; what a layer says can be known now.
template <typename Add>
void check_target(const NetworkConfig& config, const LayerConfig& layer,
                  const Add& add) {
  if (!layer.target || *layer.target < config.inputs.size()) return;
  const LayerConfig& node = config.layers[*layer.target - config.inputs.size()];
  if (!node.settings.has("activation")) return;
  const device::Loss loss = layer.type->output(layer.settings).loss.kind;
  const Bounds wanted = bounds_of(loss),
               given = given_by(node.settings.activation("activation"));
  if (given.least >= wanted.least && given.most <= wanted.most) return;
  add(layer, "loss",
      "'" + std::string(name_of(loss)) + "' wants targets of " +
          (wanted.most == 1 ? "0 to 1" : "0 or more") + ", and '" + node.name +
          "' may give others; want another activation there, or another loss, "
          "as mean_squared_error");
}

}  // namespace

std::vector<std::string> check_meaning(const NetworkConfig& config) {
  std::vector<std::string> problems;
  const auto add = [&](const LayerConfig& layer, std::string_view key,
                       const std::string& what) {
    problems.push_back(layer.place + "." + std::string(key) + ": " + what);
  };
  for (const LayerConfig& layer : config.layers) {
    if (layer.name == "updater" || layer.name == "training")
      add(layer, "name",
          "'" + layer.name + "' is reserved; choose another name");
    if (layer.type->output != nullptr && is_read(config, layer) &&
        device::needs_logits(layer.type->output(layer.settings).loss.kind))
      add(layer, "loss",
          "it is computed with its activation, so that no other node can take "
          "the output of '" +
              layer.name + "'");
    check_target(config, layer, add);
    if (layer.type->check && !layer.shares)
      layer.type->check(layer.settings,
                        [&](std::string_view key, const std::string& what) {
                          add(layer, key, what);
                        });
  }
  if (config.tbptt_length > 0 &&
      std::none_of(config.layers.begin(), config.layers.end(),
                   [](const auto& l) { return l.type->recurrent; }))
    problems.emplace_back("tbptt_length: the network has no recurrent layer");
  if (config.tbptt_update && config.tbptt_length == 0)
    problems.emplace_back(
        "tbptt_update: wants a tbptt_length, the steps between two updates");
  return problems;
}

}  // namespace dl::nn
