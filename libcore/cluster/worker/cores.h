// `dl-worker --threads 0`: the cores of this host that are this worker's.

#ifndef DL_LIBCORE_CLUSTER_WORKER_CORES_H_
#define DL_LIBCORE_CLUSTER_WORKER_CORES_H_

#include <optional>
#include <string>

#include "libcore/cluster/worker/launcher.h"

namespace dl::cluster {

// Cores that the kernel lets this process use.
struct Cores {
  int bound;                    // cores of its affinity
  int allowed;                  // greatest possible affinity, >= bound
  std::optional<double> limit;  // cores of its control group
};

Cores cores_of_process();

struct Threads {
  int count;
  std::string why;  // "8 cores for 4 ranks (OMPI_COMM_WORLD_LOCAL_SIZE)"
};

// The ranks of a host share its cores, unless each was bound to its own; and
// none takes more than its launcher gives it (SLURM_CPUS_PER_TASK,
// OMP_NUM_THREADS).
Threads share_cores(const Cores& cores, const LaunchedAs& place,
                    const Environment& environment);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_CORES_H_
