// The number of threads of a worker that the master starts.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_THREADS_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_THREADS_H_

#include "libcore/cluster/run_config/master_options.h"
#include "libcore/cluster/run_config/run_config.h"

namespace dl::cluster {

// As many as the cores allow and the work of a mini-batch keeps busy, unless
// the options say how many.
int threads_of_worker(const MasterOptions& options, const RunConfig& plan);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_THREADS_H_
