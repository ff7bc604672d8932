// The list of layer types, and lookup by name.

#include "libcore/nn/config/layer_type.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::nn {

namespace layers {
#define DL_LAYER(name) const LayerType& name();
#include "libcore/nn/layers/list.inc"
#undef DL_LAYER
}  // namespace layers

std::span<const LayerType* const> layer_types() {
  static const LayerType* const types[] = {
#define DL_LAYER(name) &layers::name(),
#include "libcore/nn/layers/list.inc"
#undef DL_LAYER
  };
  return types;
}

const LayerType& layer_type(std::string_view name) {
  const auto types = layer_types();
  const auto found = std::ranges::find(types, name, &LayerType::name);
  require(found != types.end(), "no such type of layers");
  return **found;
}

OutputSpec output_of(const NetworkConfig& config, std::size_t output) {
  const LayerConfig& layer = config.layers[config.outputs.at(output)];
  require(layer.type->output != nullptr, "an output without a loss");
  return layer.type->output(layer.settings);
}

double numbers_in(const tensor::Shape& shape) {
  double product = 1;
  for (const std::int64_t extent : shape.extents())
    product *= static_cast<double>(extent);
  return product;
}

namespace {

void check_extents(std::span<const std::int64_t> extents,
                   const std::string& what) {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(n, extent, &n) || n > kMaxReals)
      throw Error{Code::kConfig, what + " has more than 2^40 numbers"};
}

}  // namespace

tensor::Shape checked_shape(std::initializer_list<std::int64_t> extents,
                            const std::string& what) {
  return checked_shape(std::span(extents.begin(), extents.size()), what);
}

tensor::Shape checked_shape(std::span<const std::int64_t> extents,
                            const std::string& what) {
  check_extents(extents, what);
  return tensor::Shape(extents);
}

void check_size(const tensor::Shape& shape, const std::string& what) {
  check_extents(shape.extents(), what);
}

}  // namespace dl::nn
