// A worker's place among others: its rank, and how many share its host.

#ifndef DL_LIBCORE_CLUSTER_WORKER_PLACE_H_
#define DL_LIBCORE_CLUSTER_WORKER_PLACE_H_

#include "libcore/base/log.h"
#include "libcore/cluster/worker/launcher.h"
#include "libcore/cluster/worker/worker.h"

namespace dl::cluster {

// Finds and logs what a launcher says of this process: sets options.rank, and
// trainer.threads where that is 0.
// Throws Error: as launched_as().
LaunchedAs find_place(WorkerOptions& options, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_PLACE_H_
