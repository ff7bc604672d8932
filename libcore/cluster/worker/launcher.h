// The rank of this process among those of a launcher: Slurm, MPI, Kubernetes
// and others say it in the environment, dl(7).

#ifndef DL_LIBCORE_CLUSTER_WORKER_LAUNCHER_H_
#define DL_LIBCORE_CLUSTER_WORKER_LAUNCHER_H_

#include <map>
#include <optional>
#include <string>

namespace dl::cluster {

using Environment = std::map<std::string, std::string>;

Environment environment_of_process();

// Rank and size as far as they are known.  A hint only: leases decide who does
// what.
struct LaunchedAs {
  struct Number {
    int value;             // ranks from 0, sizes from 1
    std::string variable;  // "SLURM_PROCID"
  };
  std::optional<Number> rank, size;
  std::optional<Number> local_rank, local_size;  // rank and size on this host
  // Contradiction, "RANK says 5; DL_RANK says it outright"; "": none.
  std::string doubt;

  std::string text() const;  // "rank 3 of 8 (SLURM_PROCID)"; "": no rank
};

// Throws Error: kUsage, what a launcher says is no number.
LaunchedAs launched_as(const Environment& environment);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_LAUNCHER_H_
