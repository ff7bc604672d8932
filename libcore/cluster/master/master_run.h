// A master at work: the run directory, the socket, local workers and the event
// loop of one start.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MASTER_RUN_H_
#define DL_LIBCORE_CLUSTER_MASTER_MASTER_RUN_H_

#include "libcore/cluster/master/master.h"

namespace dl::cluster {

// Trains, or measures with options.estimate; options are checked.
// Throws as run_master() does.
Outcome train(const MasterOptions& options, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MASTER_RUN_H_
