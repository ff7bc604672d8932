#include "libcore/nn/target_source.h"

#include <vector>

#include "libcore/nn/layer_type.h"

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
  const auto cut = [&](std::vector<double>& numbers) {
    if (numbers.size() <= 1) return;  // one for all columns
    const auto first = numbers.begin() + source.first;
    numbers = std::vector<double>(first, first + source.width);
  };
  cut(part.shift);
  cut(part.scale);
  return part;
}

}  // namespace dl::nn
