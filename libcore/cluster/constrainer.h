// Constraints of parameters in host memory: those that the master and all
// workers keep alike.

#ifndef DL_LIBCORE_CLUSTER_CONSTRAINER_H_
#define DL_LIBCORE_CLUSTER_CONSTRAINER_H_

#include <memory>
#include <span>

#include "libcore/nn/config.h"

namespace dl::cluster {

// Wherever an update, or a round's average, has been added to parameters that
// others have as well, this comes next, so that all have the same bits.
// Copies share what they work with: one thread at a time.
class Constrainer {
 public:
  Constrainer() = default;  // of a network without constraints
  explicit Constrainer(const nn::NetworkConfig& network);
  // Puts the parameters of the network back to where they may be, see
  // nn/constraints.h.
  void operator()(std::span<float> parameters) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_CONSTRAINER_H_
