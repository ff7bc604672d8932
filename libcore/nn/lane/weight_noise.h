// Weights that training disturbs: each step computes with a copy of them that
// is drawn anew, and what is learnt goes to the weights themselves.
//
// DropConnect: L. Wan et al., "Regularization of Neural Networks using
// DropConnect" (2013), inverted, so that nothing is to be scaled afterwards.
// The noise follows from the network's seed, the name of the mini-batch, the
// layer and the place of the weight, never from the lane or host.

#ifndef DL_LIBCORE_NN_LANE_WEIGHT_NOISE_H_
#define DL_LIBCORE_NN_LANE_WEIGHT_NOISE_H_

#include <cstdint>
#include <vector>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layer.h"

namespace dl::nn {

class NoisyWeights {
 public:
  // layer: whose weights they are; all that share them draw the same.
  NoisyWeights(device::Device& device, Memory& memory, const WeightNoise& noise,
               std::uint64_t seed, std::size_t layer)
      : device_(&device),
        memory_(&memory),
        noise_(noise),
        seed_(seed),
        layer_(layer) {}

  // Weights and where their gradient goes; returns the copy to compute with.
  tensor::View add(tensor::View weights, tensor::View gradient);
  // Before forward(): fills the copies; outside training, with the weights.
  void draw(const Step& step);
  // After backward(): makes gradients of the copies those of the weights.
  void pass_gradients();

 private:
  struct Tensor {
    tensor::View weights, gradient, copy, factors;
  };
  // Each copy is the weights times factors; else noise is added to them.
  bool multiplies() const {
    return noise_.drop_connect > 0 || noise_.multiplicative;
  }

  device::Device* device_;
  Memory* memory_;
  WeightNoise noise_;
  std::uint64_t seed_;
  std::size_t layer_;
  std::vector<Tensor> tensors_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_WEIGHT_NOISE_H_
