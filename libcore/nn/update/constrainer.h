// Constraints on parameters and statistics in host memory: those that the
// master and all workers have alike.

#ifndef DL_LIBCORE_NN_UPDATE_CONSTRAINER_H_
#define DL_LIBCORE_NN_UPDATE_CONSTRAINER_H_

#include <memory>
#include <span>
#include <vector>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"

namespace dl::nn {

// Wherever an update, or a round's average, has been added to parameters that
// others have as well, this comes next, so that all have the same bits.
// Copies share what they work with: one thread at a time.
class Constrainer {
 public:
  Constrainer() = default;  // of a network without constraints
  explicit Constrainer(const NetworkConfig& network);
  // Whether parameters may be anything.
  bool none() const { return state_ == nullptr; }
  // Puts the parameters of the network back to where they may be, see
  // nn/update/constraints.h.
  void operator()(std::span<float> parameters) const;
  // Puts back statistics of frozen layers, whose average may be rounded.
  void keep_frozen(std::span<float> statistics,
                   std::span<const float> before) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::vector<Segment> frozen_;  // of statistics
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_CONSTRAINER_H_
