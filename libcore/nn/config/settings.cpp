// Settings with defaults filled in.

#include "libcore/nn/config/settings.h"

#include "libcore/nn/config/config_table.h"

namespace dl::nn {
namespace {

// A tag alone where it says everything.
Json short_form(const LayerSettings& settings, std::string_view object) {
  const Key* tag = tag_of(object);
  if (tag && settings.json().size() == 1) return settings.at(tag->name);
  return settings.json();
}

Json resolved(const Json& value, const Key& key) {
  switch (key.kind) {
    case Kind::kNumber:
      return value.get<double>();
    case Kind::kObject:
      return LayerSettings(value, key.of).json();
    case Kind::kTagOrObject:
      return short_form(LayerSettings(value, key.of), key.of);
    case Kind::kNumberOrObject:
      if (value.is_number()) return value.get<double>();
      return LayerSettings(value, key.of).json();
    default:
      return value;
  }
}

// A resolved object with a tag, "type", or the tag alone.
class Tagged {
 public:
  explicit Tagged(const Json& json) : json_(json) {}
  const std::string& tag() const {
    const Json& tag = json_.is_string() ? json_ : json_.at("type");
    return tag.get_ref<const std::string&>();
  }
  bool has(const char* key) const {
    return json_.is_object() && json_.contains(key);
  }
  // `to` stays as it is where there is no such key.
  template <typename T>
  void read(const char* key, T& to) const {
    if (has(key)) to = json_.at(key).get<T>();
  }

 private:
  const Json& json_;
};

}  // namespace

LayerSettings::LayerSettings(const Json& given, std::string_view object) {
  Json whole = given;
  if (given.is_string()) whole = Json{{tag_of(object)->name, given}};
  for (const Key* key : keys_of(object, kind_of(object, whole))) {
    const std::string name(key->name);
    const auto it = whole.find(name);
    const Json value = it != whole.end() ? *it : key->default_value();
    if (!value.is_null()) json_[name] = resolved(value, *key);
  }
}

const Json& LayerSettings::at(std::string_view name) const {
  const auto it = json_.find(name);
  require(it != json_.end(), "a setting that the table of keys lacks");
  return *it;
}

std::int64_t LayerSettings::integer(std::string_view name) const {
  return at(name).get<std::int64_t>();
}

double LayerSettings::number(std::string_view name) const {
  return at(name).get<double>();
}

bool LayerSettings::flag(std::string_view name) const {
  return at(name).get<bool>();
}

std::string LayerSettings::text(std::string_view name) const {
  return at(name).get<std::string>();
}

std::vector<std::int64_t> LayerSettings::integers(std::string_view name) const {
  const Json& value = at(name);
  if (value.is_number()) return {value.get<std::int64_t>()};
  return value.get<std::vector<std::int64_t>>();
}

device::ActivationSpec LayerSettings::activation(std::string_view name) const {
  const Tagged value(at(name));
  device::ActivationSpec spec;
  spec.kind = named<device::Activation>(value.tag());
  // Each kind's own names for what the devices know by one.
  for (const char* key : {"alpha", "beta", "slope", "negative_slope"})
    value.read(key, spec.alpha);
  for (const char* key : {"theta", "threshold"})
    value.read(key, spec.threshold);
  value.read("max", spec.limit);
  value.read("approximate", spec.approximate);
  return spec;
}

device::LossSpec LayerSettings::loss(std::string_view name) const {
  const Tagged value(at(name));
  device::LossSpec spec;
  spec.kind = named<device::Loss>(value.tag());
  value.read("delta", spec.delta);
  value.read("gamma", spec.gamma);
  value.read("alpha", spec.positive);
  if (spec.kind == device::Loss::kBinaryFocal && value.has("alpha"))
    spec.negative = 1 - spec.positive;
  return spec;
}

void LayerSettings::set(std::string_view name, Json value) {
  json_[std::string(name)] = std::move(value);
}

}  // namespace dl::nn
