// The warm-up of a run's learning rates.
//
// Updaters such as adagrad and adam divide gradients by their own size, as far
// as they know it.  In the first steps they know nothing: every parameter moves
// by about the learning rate, however small its gradient is.  A few such steps
// can end a network for good: its units saturate, and no gradient brings them
// back.  A learning rate that rises in a straight line until there is a mean of
// enough gradients avoids it (Ma and Yarats, "On the adequacy of untuned warmup
// for adaptive optimization", AAAI 2021).

#ifndef DL_LIBCORE_NN_UPDATE_WARMUP_H_
#define DL_LIBCORE_NN_UPDATE_WARMUP_H_

#include <cstdint>

#include "libcore/nn/config/config.h"

namespace dl::nn {

// Updater steps after which an updater knows the size of gradients.
constexpr std::int64_t kWarmupSteps = 128;

// Whether a layer that is trained has an updater whose first steps do not
// depend on the size of gradients, and whose learning rate has no warm-up.
bool wants_warmup(const NetworkConfig& network);

// The network with learning rates that rise for so many steps, where
// wants_warmup() says so; 0: as it is.
NetworkConfig with_warmup(NetworkConfig network, std::int64_t steps);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_WARMUP_H_
