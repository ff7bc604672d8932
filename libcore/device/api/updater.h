// The updaters, which turn gradients into updates.

#ifndef DL_LIBCORE_DEVICE_API_UPDATER_H_
#define DL_LIBCORE_DEVICE_API_UPDATER_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "libcore/device/api/values.h"

namespace dl::device {

enum class Updater {
  kNone,
  kSgd,
  kNesterov,
  kMomentum,
  kAdam,
  kAdaGrad,
  kRmsProp,
  kAdamW,
  kAmsGrad,
  kAdaMax,
  kNadam,
  kAdaBelief,
  kAdaDelta
};

// Place of epsilon: the root of the mean or sum of squares, that mean or sum,
// or the root behind its bias correction.
enum class EpsilonAt { kRoot, kSquare, kCorrected };

// One step of training a range of parameters w with gradient g.  First
//   g' = clip(scale g) + l2 w + l1 sign(w),
// clipped to [-limit, limit]; then the updater makes the update u of g' by its
// formula, dl-network(5) (kNone: u = g', kAdamW: as kAdam); and at last
//   u' = u + decay w.
//
// The findings of the step before it decide on the device, without a wait:
// numbers, or empty.
struct UpdaterStep {
  View factor = {};  // a number that scale is multiplied with
  View guard = {};   // a number; where it is NaN, nothing is written
  double scale = 1;
  double limit = std::numeric_limits<double>::infinity();
  double l1 = 0, l2 = 0;
  Updater kind = Updater::kSgd;
  double learning_rate = 0;  // after its schedule
  double momentum = 0.9;     // nesterov, momentum
  // Decay rates of adam and its kin; beta2 is the decay of rmsprop and
  // adadelta.
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  EpsilonAt epsilon_at = EpsilonAt::kRoot;
  // Where the squares of adagrad and rmsprop start; else at epsilon.
  std::optional<double> start = {};
  double momentum_decay = 0.004;  // nadam
  std::int64_t step = 1;          // 1 at the first step: adam's bias correction
  double decay = 0;  // the learning rate times the decay of weights
};
// Where an update goes: written over the gradient, or subtracted from the
// parameters at once, which leaves the gradient as it was.
enum class UpdateTo { kGradient, kParameters };
// Reals of state a parameter needs: none and sgd 0, adam 2, amsgrad 3.
constexpr int kMaxState = 3;
int state_per_parameter(Updater kind);
// Where state starts: `start` of adagrad and rmsprop, else 0.
double initial_state(const UpdaterStep& step);
// The components of the state of the same parameters, in the order of
// nn::state_name(); empty where there are no more.
using StateViews = std::array<View, kMaxState>;
// Parameters that Device::update() gives a step, of the same shape all.
struct Updating {
  View number;  // becomes NaN unless all that was written is finite
  UpdaterStep step;
  View gradient, parameters;
  StateViews state;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_UPDATER_H_
