// Norm and sign constraints of weights.

#include "libcore/nn/update/constraints.h"

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

using tensor::View;

void put_back(const Constraint& constraint, device::Device& device, View rows) {
  if (rows.elements() == 0) return;
  if (constraint.non_negative)
    device.activate({device::Activation::kRelu}, rows, rows);
  if (constraint.bounds_norm())
    device.bound_norms(rows, constraint.min_norm, constraint.max_norm,
                       constraint.rate);
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

void Constraints::apply(device::Device& device, View parameters, int lane,
                        int lanes) const {
  for (const Constrained& tensor : tensors_) {
    const std::int64_t begin = tensor.rows * lane / lanes,
                       end = tensor.rows * (lane + 1) / lanes;
    put_back(tensor.constraint, device,
             parameters.at(tensor.offset + begin * tensor.columns,
                           {end - begin, tensor.columns}));
  }
}

}  // namespace dl::nn
