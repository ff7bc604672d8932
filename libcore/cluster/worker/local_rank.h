// Which of the processes on this host a launcher says that this one is.

#ifndef DL_LIBCORE_CLUSTER_WORKER_LOCAL_RANK_H_
#define DL_LIBCORE_CLUSTER_WORKER_LOCAL_RANK_H_

#include <optional>
#include <string>

namespace dl::cluster {

struct LocalRank {
  int rank;              // from 0
  std::string variable;  // "SLURM_LOCALID"
};

// From the environment; nothing without a launcher.  The body of a batch script
// of Slurm's is none of its tasks.
// Throws Error: kUsage, it is no number.
std::optional<LocalRank> local_rank();

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_LOCAL_RANK_H_
