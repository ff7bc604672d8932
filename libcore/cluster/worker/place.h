// A worker's place among others: its rank, and how many share its host.

#ifndef DL_LIBCORE_CLUSTER_WORKER_PLACE_H_
#define DL_LIBCORE_CLUSTER_WORKER_PLACE_H_

#include <cstdint>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/worker/launcher.h"
#include "libcore/cluster/worker/worker.h"

namespace dl::cluster {

// Why the kernel may end a worker for its memory; "": it has enough for its
// cache, as far as that can be said before it knows the network.  memory: of
// its control group, shared by so many ranks.
std::string memory_doubt(std::uint64_t cache, std::uint64_t memory, int ranks);

// Finds and logs what a launcher says of this process: sets options.rank, and
// trainer.threads where that is 0.
// Throws Error: as launched_as().
LaunchedAs find_place(WorkerOptions& options, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_PLACE_H_
