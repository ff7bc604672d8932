// What turns gradients into updates.

#ifndef DL_LIBCORE_TENSOR_UPDATER_H_
#define DL_LIBCORE_TENSOR_UPDATER_H_

#include <cstdint>
#include <limits>

namespace dl::tensor {

enum class Updater { kNone, kSgd, kNesterov, kAdam, kAdaGrad, kRmsProp };

// One step of training a range of parameters w with gradient g.  First
//   g' = clip(scale g) + l2 w + l1 sign(w),
// clipped to [-limit, limit]; then the updater makes the update u of g'
// (Deeplearning4j's formulas, dl-network(5)); kNone: u = g'.
struct UpdaterStep {
  double scale = 1;
  double limit = std::numeric_limits<double>::infinity();
  double l1 = 0, l2 = 0;
  Updater kind = Updater::kSgd;
  double learning_rate = 0;           // after its schedule
  double momentum = 0.9;              // nesterov
  double beta1 = 0.9, beta2 = 0.999;  // adam; beta2 is the decay of rmsprop
  double epsilon = 1e-8;
  std::int64_t step = 1;  // 1 at the first step: adam's bias correction
};
// Where an update goes: written over the gradient, or subtracted from the
// parameters at once, which leaves the gradient as it was.
enum class UpdateTo { kGradient, kParameters };
// Reals of state a parameter needs: adam 2, none and sgd 0, others 1.
int state_per_parameter(Updater kind);
// Where state starts: epsilon for adagrad and rmsprop, else 0.
double initial_state(const UpdaterStep& step);

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_UPDATER_H_
