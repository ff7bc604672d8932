// Momentum correction of shared gradients.

#include "libcore/exchange/residual/momentum_correction.h"

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange {

MomentumCorrection::MomentumCorrection(std::size_t elements, double momentum,
                                       bool masking)
    : momentum_(static_cast<float>(momentum)),
      masking_(masking),
      velocity_(elements) {
  require(momentum >= 0 && momentum < 1, "momentum");
}

std::span<const float> MomentumCorrection::add(
    std::span<const float> gradient) {
  require(gradient.size() == velocity_.size(), "size of the gradient");
  for (std::size_t i = 0; i < velocity_.size(); ++i)
    velocity_[i] = momentum_ * velocity_[i] + gradient[i];
  return velocity_;
}

void MomentumCorrection::sent(std::span<const std::byte> message) {
  if (!masking_) return;
  require(inspect_threshold(message).elements == velocity_.size(),
          "a message of our own");
  for_each_quantum(message, [&](std::uint64_t i, float) { velocity_[i] = 0; });
}

}  // namespace dl::exchange
