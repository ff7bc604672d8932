// The loss of the run's own parameters on some of its training data, as the
// master finds it: a witness where workers contradict each other.

#ifndef DL_LIBCORE_CLUSTER_MASTER_OWN_LOSS_H_
#define DL_LIBCORE_CLUSTER_MASTER_OWN_LOSS_H_

#include <cstdint>
#include <optional>

#include "libcore/cluster/master/told_losses.h"
#include "libcore/cluster/plan/plan.h"
#include "libcore/cluster/store/run_state.h"

namespace dl::cluster {

// As workers measure theirs, with dropout and the mini-batch's own statistics.
// Takes some seconds at most, unless one mini-batch does.  Nothing: there is
// too little data, or the loss is not finite.
// Throws Error: kData, kNoInput, kIo, a record cannot be read.
std::optional<OwnLoss> measure_own_loss(const Plan& plan,
                                        const RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_OWN_LOSS_H_
