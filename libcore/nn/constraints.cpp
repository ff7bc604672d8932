#include "libcore/nn/constraints.h"

#include <cmath>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

using tensor::View;

// What is nearly nothing has no direction.
constexpr double kSmallNorm = 1e-6;

void put_back(const Constraint& constraint, tensor::Device& device, View row) {
  if (constraint.non_negative)
    device.activate({tensor::Activation::kRelu}, row, row);
  if (!constraint.bounds_norm()) return;
  const double norm = std::sqrt(device.sum_squares(row));
  const double bound = norm > constraint.max_norm   ? constraint.max_norm
                       : norm < constraint.min_norm ? constraint.min_norm
                                                    : norm;
  if (norm >= kSmallNorm && bound != norm)
    device.scale(row, 1 + constraint.rate * (bound - norm) / norm);
}

}  // namespace

Constraints::Constraints(const NetworkConfig& config, const Layout& layout) {
  for (const Segment& segment : layout.parameters) {
    const LayerConfig& layer = config.layers[segment.layer];
    const Constraint& constraint = layer.training.constraint;
    if (constraint.min_norm > constraint.max_norm)
      throw Error{Code::kConfig,
                  "layer '" + layer.name +
                      "': constraints: min_norm is more than max_norm"};
    if (layer.training.frozen) continue;
    const bool bias = segment.role == Role::kBias;
    if (!constraint.any() ||
        (bias ? !constraint.biases : segment.role != Role::kWeight))
      continue;
    const std::int64_t rows = bias ? 1 : segment.shape[0];
    tensors_.push_back(
        {segment.offset, rows, segment.elements() / rows, constraint});
  }
}

void Constraints::apply(tensor::Device& device, View parameters, int lane,
                        int lanes) const {
  for (const Constrained& tensor : tensors_) {
    const std::int64_t end = tensor.rows * (lane + 1) / lanes;
    for (std::int64_t i = tensor.rows * lane / lanes; i < end; ++i)
      put_back(
          tensor.constraint, device,
          parameters.at(tensor.offset + i * tensor.columns, {tensor.columns}));
  }
}

}  // namespace dl::nn
