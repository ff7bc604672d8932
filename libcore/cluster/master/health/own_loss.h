// The loss of parameters on some of the run's training data, as the master
// finds it: a witness where workers contradict each other.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_OWN_LOSS_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_OWN_LOSS_H_

#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/run_config/run_config.h"

namespace dl::cluster {

// Has the context measure losses on the training data of the plan, which stays
// as it is: own_loss and loss_of.  They are as workers measure theirs, with
// dropout and the mini-batch's own statistics, and infinite where they are not
// finite.  Nothing: there is too little data, or it cannot be read here.  That
// takes some seconds at most, loss_of a tenth of one, unless a mini-batch does.
void measure_losses(const RunConfig& plan, RunContext& context);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_OWN_LOSS_H_
