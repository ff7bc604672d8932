#include "libcore/nn/settings.h"

#include "libcore/nn/config_table.h"

namespace dl::nn {
namespace {

// A tag alone where it says everything.
Json short_form(const Settings& settings, std::string_view object) {
  const Key* tag = tag_of(object);
  if (tag && settings.json().size() == 1) return settings.at(tag->name);
  return settings.json();
}

Json resolved(const Json& value, const Key& key) {
  switch (key.kind) {
    case Kind::kNumber:
      return value.get<double>();
    case Kind::kObject:
      return Settings(value, key.of).json();
    case Kind::kTagOrObject:
      return short_form(Settings(value, key.of), key.of);
    case Kind::kNumberOrObject:
      if (value.is_number()) return value.get<double>();
      return Settings(value, key.of).json();
    default:
      return value;
  }
}

}  // namespace

Settings::Settings(const Json& given, std::string_view object) {
  Json whole = given;
  std::string tag;
  if (const Key* key = tag_of(object)) {
    const std::string name(key->name);
    if (given.is_string()) whole = Json{{name, given}};
    tag = whole.at(name).get<std::string>();
  }
  for (const Key* key : keys_of(object, tag)) {
    const std::string name(key->name);
    const auto it = whole.find(name);
    const Json value = it != whole.end() ? *it : key->default_value();
    if (!value.is_null()) json_[name] = resolved(value, *key);
  }
}

const Json& Settings::at(std::string_view name) const {
  const auto it = json_.find(name);
  require(it != json_.end(), "a setting that the table of keys lacks");
  return *it;
}

std::int64_t Settings::integer(std::string_view name) const {
  return at(name).get<std::int64_t>();
}

double Settings::number(std::string_view name) const {
  return at(name).get<double>();
}

bool Settings::flag(std::string_view name) const {
  return at(name).get<bool>();
}

std::string Settings::text(std::string_view name) const {
  return at(name).get<std::string>();
}

std::array<std::int64_t, 2> Settings::pair(std::string_view name) const {
  return at(name).get<std::array<std::int64_t, 2>>();
}

tensor::ActivationSpec Settings::activation(std::string_view name) const {
  const Json& value = at(name);
  const bool plain = value.is_string();
  tensor::ActivationSpec spec;
  spec.kind = named<tensor::Activation>(
      (plain ? value : value.at("type")).get_ref<const std::string&>());
  // Each kind's own names for what the devices know by one.
  const auto read = [&](double& to, std::initializer_list<const char*> names) {
    for (const char* key : names)
      if (!plain && value.contains(key)) to = value.at(key).get<double>();
  };
  read(spec.alpha, {"alpha", "beta", "slope", "negative_slope"});
  read(spec.threshold, {"theta", "threshold"});
  read(spec.limit, {"max"});
  spec.approximate = !plain && value.value("approximate", false);
  return spec;
}

void Settings::set(std::string_view name, Json value) {
  json_[std::string(name)] = std::move(value);
}

}  // namespace dl::nn
