// The way back through a plan.

#ifndef DL_LIBCORE_NN_PLAN_PLAN_BACKWARD_H_
#define DL_LIBCORE_NN_PLAN_PLAN_BACKWARD_H_

#include <vector>

#include "libcore/nn/plan/plan.h"

namespace dl::nn {

// When the values of a plan are read for the last time.  Moments: inputs are
// loaded at 0; then each step, the losses, and the steps in reverse.
class Lifetimes {
 public:
  static constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);

  Lifetimes(const NetworkConfig& config, const Layout& layout, const Plan& plan,
            bool training);

  static int forward(std::size_t step) { return static_cast<int>(step) + 1; }
  int loss() const { return static_cast<int>(steps_.size()) + 1; }
  int backward(std::size_t step) const {
    return 2 * loss() - static_cast<int>(step) - 1;
  }

  // Whether there are parameters to be trained in the step or before it.
  bool runs_backward(std::size_t step) const { return backward_[step]; }
  bool needs_gradient(Value v) const {
    return producer_[v] != kNoStep && backward_[producer_[v]];
  }
  // An output, or what one is compared with.
  bool is_compared(Value v) const { return compared_[v]; }
  // except: a step that does not count.
  int last_use(Value v, std::size_t except = kNoStep) const;

 private:
  const std::vector<PlannedLayer>& steps_;
  std::vector<std::vector<std::size_t>> readers_;  // by value
  std::vector<std::size_t> producer_;              // by value
  std::vector<bool> backward_;                     // by step
  std::vector<bool> compared_;  // by value: an output, or its target
};

// Fills in losses and backward, and adds the buffers of gradients.
void plan_backward(const NetworkConfig& config, const Layout& layout,
                   const Lifetimes& lifetimes, Plan& plan);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PLAN_PLAN_BACKWARD_H_
