// Momentum of what is sent, where gradients are shared (Lin et al., "Deep
// Gradient Compression", ICLR 2018, sections 3.1 and 3.2).
//
//   u = momentum * u + gradient;  v += u;  what of v reaches the threshold is
//   sent.  Momentum factor masking: where v was sent, u starts at 0 again, so
//   that stale momentum does not carry an element on in the wrong direction.
//
// v is the encoder's residual.

#ifndef DL_LIBCORE_EXCHANGE_RESIDUAL_MOMENTUM_CORRECTION_H_
#define DL_LIBCORE_EXCHANGE_RESIDUAL_MOMENTUM_CORRECTION_H_

#include <cstddef>
#include <span>
#include <vector>

namespace dl::exchange {

class MomentumCorrection {
 public:
  // momentum in [0, 1) (kBug); masking: whether sent() does anything.
  MomentumCorrection(std::size_t elements, double momentum, bool masking);

  // Returns the input of ThresholdEncoder::encode(); valid until the next call.
  std::span<const float> add(std::span<const float> gradient);
  // Takes the message that the encoder made from the result of add().
  void sent(std::span<const std::byte> message);
  void forget() { velocity_.assign(velocity_.size(), 0.0F); }

 private:
  float momentum_;
  bool masking_;
  std::vector<float> velocity_;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RESIDUAL_MOMENTUM_CORRECTION_H_
