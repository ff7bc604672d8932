// The layers that lanes compute jointly.
//
// A lane by itself reads and packs all weights for its few examples, and has a
// gradient of all of them, which is then added to the others'.  Where a weight
// is large beside what goes through it, that is most of the work, and of the
// memory; jointly, each weight is read by one lane, for all examples.

#ifndef DL_LIBCORE_NN_PLAN_PLAN_JOINT_H_
#define DL_LIBCORE_NN_PLAN_PLAN_JOINT_H_

#include "libcore/nn/plan/plan.h"

namespace dl::nn {

// Fills in which steps are joint, the room that they need, and where the
// gradients of lanes lie.
void plan_joint(const NetworkConfig& config, const Layout& layout,
                Division division, Plan& plan);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PLAN_PLAN_JOINT_H_
