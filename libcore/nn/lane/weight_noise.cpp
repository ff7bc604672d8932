// Noisy copies of weights for a training step.

#include "libcore/nn/lane/weight_noise.h"

#include "libcore/base/philox.h"

namespace dl::nn {

using tensor::View;

View NoisyWeights::add(View weights, View gradient) {
  const View copy = memory_->allocate(weights.shape),
             factors = multiplies() ? memory_->allocate(weights.shape) : View{};
  tensors_.push_back({weights, gradient, copy, factors});
  return copy;
}

void NoisyWeights::draw(const Step& step) {
  // Random numbers of the layers themselves have streams of one number less.
  std::uint64_t place = 0;
  for (const Tensor& t : tensors_) {
    if (!step.training) {
      device_->copy(t.copy, t.weights);
      continue;
    }
    const std::uint64_t stream =
        mix({step.at.batch, static_cast<std::uint64_t>(layer_), place++});
    if (noise_.drop_connect > 0)
      device_->dropout_mask(t.factors, 1 - noise_.drop_connect, seed_, stream,
                            0);
    else
      device_->normal(multiplies() ? t.factors : t.copy, multiplies() ? 1 : 0,
                      noise_.deviation, seed_, stream, 0);
    if (multiplies())
      device_->multiply(t.copy, t.weights, t.factors);
    else
      device_->add(t.copy, 1, t.weights);
  }
}

void NoisyWeights::pass_gradients() {
  if (!multiplies()) return;
  for (const Tensor& t : tensors_)
    device_->multiply(t.gradient, t.gradient, t.factors);
}

}  // namespace dl::nn
