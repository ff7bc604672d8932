// Looks at the numbers of a step while they are there: summaries, drawings.

#ifndef DL_LIBCORE_NN_WATCH_H_
#define DL_LIBCORE_NN_WATCH_H_

#include <cstddef>
#include <functional>
#include <span>

namespace dl::nn {

// Called in the step's threads, one call at a time of each; only where the
// memory of the device is the host's and numbers are float32.
struct Watch {
  // Outputs of a layer, by its place in the network, in the first lane's share
  // of the mini-batch.
  std::function<void(std::size_t layer, std::span<const float> values)> outputs;
  // The gradient of the mini-batch, as the parameters lie.
  std::function<void(std::span<const float> values)> gradient;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_WATCH_H_
