// A network's updaters over vectors in host memory: for the master and workers
// that take the same step from a gradient that they have in common.

#ifndef DL_LIBCORE_NN_UPDATE_HOST_UPDATER_H_
#define DL_LIBCORE_NN_UPDATE_HOST_UPDATER_H_

#include <cstddef>
#include <memory>
#include <span>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"

namespace dl::nn {

// The update of Network::apply_update() from a gradient, on the host, whatever
// the network computes on: the same bits on every host, for any number of
// threads, unless the network says to normalize gradients by their norm, which
// is summed as the processor can. Used by one thread at a time.
class HostUpdater {
 public:
  explicit HostUpdater(const NetworkConfig& network, int threads = 1);
  ~HostUpdater();

  std::size_t state_elements() const;

  // Per layer: gradient normalization, l1 and l2, then its updater, and the
  // constraints.  Vectors as Network's; what becomes of the gradient is not
  // said.  Returns whether what it made is finite; if not, neither parameters
  // nor state are of use.
  bool step(const Position& at, std::span<float> gradient,
            std::span<float> parameters, std::span<float> state);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_HOST_UPDATER_H_
