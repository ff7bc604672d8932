// The loss of parameters on some of the run's training data, as the master
// finds it: a witness where workers contradict each other.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_OWN_LOSS_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_OWN_LOSS_H_

#include <optional>

#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/run_config/run_config.h"

namespace dl::cluster {

// Whether the state's parameters have a lower loss than any constant prediction
// on some of the plan's training data, which stays as it is; nothing: as below,
// or the loss of such a prediction is not known.  That takes some seconds at
// most.
std::optional<bool> beats_constant(const RunConfig& plan,
                                   const RunState& state);

// Has the context measure losses on the training data of the plan, which stays
// as it is: own_loss, loss_at_start and loss_of.  They are as workers measure
// theirs, with dropout and the mini-batch's own statistics, and infinite where
// they are not finite.  Nothing: there is too little data, or it cannot be read
// here.  That takes some seconds at most, loss_of a tenth of one, unless a
// mini-batch does.
void measure_losses(const RunConfig& plan, RunContext& context);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_OWN_LOSS_H_
