// Memory of the values of a network, and which of them share it.

#ifndef DL_LIBCORE_NN_PLAN_VALUE_MEMORY_H_
#define DL_LIBCORE_NN_PLAN_VALUE_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"

namespace dl::nn {

// Memory of values as floats, on one lane.
struct ValueMemory {
  struct Extent {
    std::int64_t bytes = 0;  // 0: computed with the next, and never written
    // Values before it that lie, at least in part, where it does: the last
    // ones, from the nearest on.
    std::vector<Value> shares;
  };
  std::vector<Extent> values;  // by Value
  // Total bytes, with gradients in training; and if none shared memory.
  std::int64_t bytes = 0, apart = 0;
};

// The most that a value's `shares` has.
inline constexpr std::size_t kMostShares = 16;

// For mini-batches of so many examples.
ValueMemory value_memory(const NetworkConfig& config, const Layout& layout,
                         std::int64_t batch, bool training);

// For who has not enough: "with mini-batches of 512 the layer 'conv1' takes the
// most, 12.3 GB", for what it gives and its parameters.
std::string heaviest_layer(const NetworkConfig& config, const Layout& layout,
                           std::int64_t batch);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PLAN_VALUE_MEMORY_H_
