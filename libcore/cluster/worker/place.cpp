#include "libcore/cluster/worker/place.h"

#include <algorithm>
#include <string>

#include "libcore/base/cgroup.h"
#include "libcore/cluster/worker/cores.h"

namespace dl::cluster {

std::string memory_doubt(std::uint64_t cache, std::uint64_t memory, int ranks) {
  const std::uint64_t share = memory / static_cast<std::uint64_t>(ranks);
  if (cache <= share / 2) return "";
  const auto mebibytes = [](std::uint64_t bytes) {
    return std::to_string(bytes >> 20) + "Mi";
  };
  return "--cache " + mebibytes(cache) + " is more than half of the " +
         mebibytes(share) +
         " that the control group allows; with the network it may be killed";
}

LaunchedAs find_place(WorkerOptions& options, const Log& log) {
  const Environment environment = environment_of_process();
  LaunchedAs place = launched_as(environment);
  if (place.rank) {
    options.rank = place.rank->value;
    log(Level::kInfo, place.text());
  }
  if (!place.doubt.empty())
    log(Level::kWarning, "taking " + place.text() + ", but " + place.doubt);
  const int ranks = place.local_size ? std::max(1, place.local_size->value) : 1;
  if (const auto memory = cgroup_memory())
    if (const std::string doubt =
            memory_doubt(options.trainer.cache_bytes, *memory, ranks);
        !doubt.empty())
      log(Level::kWarning, doubt);
  int& threads = options.trainer.threads;
  if (threads > 0) return place;
  const Cores cores = cores_of_process();
  const Threads share = share_cores(cores, place, environment);
  threads = share.count;
  // News where it is not what anybody would expect.
  const bool shared = place.rank || place.local_size || threads != cores.bound;
  log(shared ? Level::kInfo : Level::kDetail,
      std::to_string(threads) + (threads == 1 ? " thread (" : " threads (") +
          share.why + ")");
  return place;
}

}  // namespace dl::cluster
