// Writing keys for the table (config_table.h): ranges, and what types of layers
// have in common.

#ifndef DL_LIBCORE_NN_CONFIG_KEYS_H_
#define DL_LIBCORE_NN_CONFIG_KEYS_H_

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn {

inline constexpr std::string_view kAny = "";
inline constexpr std::string_view kCount = "1..2147483647";
inline constexpr std::string_view kSmall = "1..65535";
inline constexpr std::string_view kAtLeast0 = "[0, inf)";
inline constexpr std::string_view kOver0 = "(0, inf)";
inline constexpr std::string_view kShare = "[0, 1)";

// Keys of a type of layers.  fallback: as in Key.
namespace key {

Key integer(std::string_view name, std::string_view fallback,
            std::string_view doc, std::string_view range = kCount);
Key number(std::string_view name, std::string_view fallback,
           std::string_view doc, std::string_view range);
Key flag(std::string_view name, std::string_view fallback,
         std::string_view doc);
// `of` names the elements: "[height, width]"
Key tuple(std::string_view name, std::string_view fallback,
          std::string_view doc, std::string_view of = "[height, width]",
          std::string_view range = kSmall);
Key one_of(std::string_view name, std::string_view fallback,
           std::string_view doc, std::span<const std::string_view> values);
Key name(std::string_view name, std::string_view fallback,
         std::string_view doc);
Key pair(std::string_view name, std::string_view fallback, std::string_view doc,
         std::string_view of, std::string_view range);
// A list of numbers of `range`.
Key class_weights();
Key numbers(std::string_view name, std::string_view fallback,
            std::string_view doc, std::string_view range);
Key activation(std::string_view fallback,
               std::string_view doc = "Applied to the outputs.");

Key loss();
Key units();
Key bias();
Key tied_to();

}  // namespace key

// The keys of training, and the least that a type with them trains.
std::vector<std::pair<Trains, Key>> training_keys();

// The keys of layers: those that all have, then those of each type, one that
// several have in the same words once, and then training's.
std::vector<Key> layer_keys();

// The keys of steps of augmentation, likewise.
std::vector<Key> augment_keys();

// The keys of all other objects.
std::vector<Key> object_keys();

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_KEYS_H_
