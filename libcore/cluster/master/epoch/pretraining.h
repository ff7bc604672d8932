// Training in stages: the layers of a network that can learn by themselves do
// so one after the other, and then the network starts from what they learnt.
//
// Each stage is a run of its own, of the unchanged loop, in a folder of its own
// within the run's, dl-run(5); so a command that is given again goes on in the
// stage where it stopped.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_PRETRAINING_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_PRETRAINING_H_

#include "libcore/cluster/master/master.h"

namespace dl::cluster {

// options.pretrain: number of epochs of a stage, > 0.  The options are checked.
// Throws as run_master() does.
Outcome pretrain_and_train(const MasterOptions& options, const Log& log);

// Checks that the run directory of a command without --pretrain is not one of
// pretraining.  Throws Error: kConfig, it is, and --fresh is not given.
void refuse_pretrained(const MasterOptions& options);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_PRETRAINING_H_
