// The spellings of enumerators in configurations.

#ifndef DL_LIBCORE_NN_CONFIG_NAMES_H_
#define DL_LIBCORE_NN_CONFIG_NAMES_H_

#include <span>
#include <string_view>

#include "libcore/base/error.h"
#include "libcore/device/api/device.h"

namespace dl::nn {

// The names of E's enumerators, in their order.  Declared for an E where E is.
template <typename E>
std::span<const std::string_view> names_of();

template <typename E>
std::string_view spell(E value) {
  return names_of<E>()[static_cast<std::size_t>(value)];
}

// The enumerator called `name`, which must be one of names_of<E>().
template <typename E>
E named(std::string_view name) {
  const auto names = names_of<E>();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<E>(i);
  throw Error{Code::kBug, "internal error: no such name"};
}

template <>
std::span<const std::string_view> names_of<device::Activation>();
template <>
std::span<const std::string_view> names_of<device::Loss>();
template <>
std::span<const std::string_view> names_of<device::Updater>();
template <>
std::span<const std::string_view> names_of<device::EpsilonAt>();

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_NAMES_H_
