// Targets that are inputs, or columns of them.

#include "libcore/nn/data/target_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "libcore/nn/config/layer_type.h"

namespace dl::nn {

std::optional<TargetSource> target_source(const NetworkConfig& config,
                                          Value target) {
  if (target < config.inputs.size()) {
    const std::int64_t columns = config.inputs[target].shape.back();
    return TargetSource{target, 0, columns, columns};
  }
  const LayerConfig& layer = config.layers[target - config.inputs.size()];
  if (layer.type->columns == nullptr || layer.each_step) return {};
  auto source = target_source(config, layer.from[0]);
  if (!source) return {};
  const auto columns = layer.type->columns(
      layer.settings, config.inputs[source->input].shape.rank());
  if (!columns) return {};
  source->first += columns->begin;
  source->width = columns->end - columns->begin;
  return source;
}

data::Normalizer part_of(const data::Normalizer& whole,
                         const TargetSource& source) {
  data::Normalizer part = whole;
  // The columns are those of the data, which may have been flat rows where the
  // network has images, and images where it has rows.
  const auto cut = [&](std::vector<double>& numbers) {
    const auto own = static_cast<std::int64_t>(numbers.size());
    if (own <= 1 || source.whole()) return;
    std::vector<double> some;
    const std::int64_t rows = std::max<std::int64_t>(own / source.columns, 1);
    some.reserve(static_cast<std::size_t>(rows * source.width));
    for (std::int64_t i = 0; i < rows * source.width; ++i)
      some.push_back(numbers[static_cast<std::size_t>(source.place(i) % own)]);
    numbers = std::move(some);
  };
  cut(part.shift);
  cut(part.scale);
  return part;
}

}  // namespace dl::nn
