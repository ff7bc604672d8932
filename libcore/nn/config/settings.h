// An object of a network configuration with every default filled in, as the
// table of keys (config_table.h) says them.

#ifndef DL_LIBCORE_NN_CONFIG_SETTINGS_H_
#define DL_LIBCORE_NN_CONFIG_SETTINGS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/device/api/activation.h"
#include "libcore/device/api/loss.h"
#include "libcore/nn/config/names.h"

namespace dl::nn {

// A value.  Getters throw Error: kBug for a key that there is not.
class LayerSettings {
 public:
  LayerSettings() = default;
  // Settings of an object that check_document() accepted: an object of the kind
  // `object`, or its tag alone. A key whose default is a phrase and which is
  // not given is left out. A nested object without more than its tag becomes
  // that.
  LayerSettings(const Json& given, std::string_view object);

  bool has(std::string_view name) const { return json_.contains(name); }
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  // Elements of a tuple; an integer is one of 1.
  std::vector<std::int64_t> integers(std::string_view name) const;
  device::ActivationSpec activation(std::string_view name) const;
  device::LossSpec loss(std::string_view name) const;
  template <typename E>
  E one_of(std::string_view name) const {
    return named<E>(text(name));
  }
  const Json& at(std::string_view name) const;

  void set(std::string_view name, Json value);
  void remove(std::string_view name) { json_.erase(std::string(name)); }
  const Json& json() const { return json_; }

 private:
  Json json_ = Json::object();
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_SETTINGS_H_
