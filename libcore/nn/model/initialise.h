// The values a network starts from.
//
// Drawn with Philox in float64 and rounded once, each tensor from a stream of
// its own, so they do not depend on device, threads or order.

#ifndef DL_LIBCORE_NN_MODEL_INITIALISE_H_
#define DL_LIBCORE_NN_MODEL_INITIALISE_H_

#include <cstdint>
#include <span>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/tensor/tensor.h"

namespace dl::nn {

// Fills `weights`, those of the tensor, by `start`, dl-network(5), from the
// stream `index` of `seed`.
void draw_weights(std::span<float> weights, const WeightStart& start,
                  const TensorSpec& tensor, std::uint64_t seed,
                  std::uint64_t index);

// Whether the weights of each layer can start as it says.
// Throws Error: kConfig, "dense1/weight: weight_init identity wants as many
// outputs as inputs, the tensor is [4, 6]".
void check_weight_inits(const NetworkConfig& config, const Layout& layout);

// The flat vectors of a new network, kF32 [parameter_count] and
// [statistics_count]: tensor i of the layout is drawn from stream i.
tensor::Tensor initial_parameters(const NetworkConfig& config,
                                  const Layout& layout);
tensor::Tensor initial_statistics(const Layout& layout);

// Where the updater state starts, kF32 [state_count].
tensor::Tensor initial_updater_state(const Layout& layout);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_MODEL_INITIALISE_H_
