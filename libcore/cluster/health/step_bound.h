// Bound on how far one step may take the parameters.
//
// An update that is accepted is logged and applied by all, and cannot be taken
// back.  So it is looked at before: a step may not be out of all proportion to
// the parameters, and adding it may not overflow, now or in any sum on the way.
// For that an upper bound of |parameter| is kept along, which costs nothing for
// each step; the parameters themselves are looked at only when a step seems too
// large.

#ifndef DL_LIBCORE_CLUSTER_HEALTH_STEP_BOUND_H_
#define DL_LIBCORE_CLUSTER_HEALTH_STEP_BOUND_H_

#include <limits>
#include <span>
#include <string>

namespace dl::cluster {

// The largest magnitude; infinity if a value is not finite.
float largest_magnitude(std::span<const float> values);

class StepBound {
 public:
  // Greatest ratio of a step to the largest parameter, or to 1 if that is
  // larger, as many networks start near 0.
  static constexpr double kProportion = 1e6;
  // Bound of sums of steps, velocities and parameters.
  static constexpr double kRoom = std::numeric_limits<float>::max() / 4;

  // A bound for unknown parameters: the first step looks at them.
  StepBound() = default;

  // Returns why `step` may not be added to an element of the parameters, or "".
  std::string fault_of(double step, std::span<const float> parameters);
  // Notes that values of at most `step` were added to the parameters.
  void added(double step) { reach_ += step; }

 private:
  bool fits(double step) const;

  double reach_ = std::numeric_limits<double>::infinity();
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_HEALTH_STEP_BOUND_H_
