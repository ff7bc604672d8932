// The list of types of augmentation, and what is wrong with steps.

#include "libcore/nn/augment/augment_type.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/layout.h"

namespace dl::nn {

namespace augment {
#define DL_AUGMENT(name) const AugmentType& name();
#include "libcore/nn/augment/list.inc"
#undef DL_AUGMENT
}  // namespace augment

std::span<const AugmentType* const> augment_types() {
  static const AugmentType* const types[] = {
#define DL_AUGMENT(name) &augment::name(),
#include "libcore/nn/augment/list.inc"
#undef DL_AUGMENT
  };
  return types;
}

const AugmentType& augment_type(std::string_view name) {
  const auto types = augment_types();
  const auto found = std::ranges::find(types, name, &AugmentType::name);
  require(found != types.end(), "no such step of augmentation");
  return **found;
}

Key chance(std::string_view fallback) {
  return key::number("p", fallback,
                     "Probability that the step changes an example.", "[0, 1]");
}

Key fill_key() {
  return key::integer("fill", "0",
                      "Value of pixels beyond the edge; labels that are "
                      "pictures have 0 there.",
                      "0..255");
}

namespace {

// A loss whose targets are class numbers that cannot be mixed.
bool takes_mixed(device::Loss loss) {
  using device::Loss;
  return loss != Loss::kHinge && loss != Loss::kSquaredHinge &&
         loss != Loss::kCategoricalHinge && loss != Loss::kMultiLabel;
}

// A reason why labels cannot be mixed; "": there is none.
std::string against_mixing(const NetworkConfig& config, const Layout& layout) {
  for (const WantedOutput& output : wanted_by(config, layout).outputs) {
    if (output.target) continue;
    if (output.places.rank() > 0)
      return "it mixes labels of whole pictures, and the network has one for "
             "each place of " +
             output.places.to_string();
    if (!takes_mixed(output.loss))
      return "'" + std::string(name_of(output.loss)) +
             "' cannot learn from mixed labels; want a loss such as "
             "negative_log_likelihood";
  }
  return "";
}

}  // namespace

std::vector<std::string> check_augment(const NetworkConfig& config,
                                       const Layout& layout) {
  std::vector<std::string> problems;
  if (config.augment.empty()) return problems;
  const auto is_picture = [](const InputConfig& input) {
    return input.shape.rank() == 3;
  };
  if (std::ranges::count_if(config.inputs, is_picture) != 1)
    return {
        "augment: wants one input that is a picture, [height, width, "
        "channels]"};
  const tensor::Shape& shape =
      std::ranges::find_if(config.inputs, is_picture)->shape;
  bool mixed = false;
  for (std::size_t i = 0; i < config.augment.size(); ++i) {
    const auto& [type, settings] = config.augment[i];
    const std::string place = "augment[" + std::to_string(i) + "]";
    if (type->check != nullptr)
      type->check(
          settings, shape, [&](std::string_view key, const std::string& what) {
            problems.push_back(place + "." + std::string(key) + ": " + what);
          });
    const bool mixes = type->make_mixing != nullptr;
    std::string what = mixes ? against_mixing(config, layout) : "";
    if (mixed && !mixes)
      what = "stands behind a step that mixes examples; want those last";
    mixed = mixed || mixes;
    if (!what.empty())
      problems.push_back(place + ": '" + std::string(type->name) +
                         "': " + what);
  }
  return problems;
}

}  // namespace dl::nn
