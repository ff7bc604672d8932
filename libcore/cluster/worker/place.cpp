#include "libcore/cluster/worker/place.h"

#include <string>

#include "libcore/cluster/worker/cores.h"

namespace dl::cluster {

LaunchedAs find_place(WorkerOptions& options, const Log& log) {
  const Environment environment = environment_of_process();
  LaunchedAs place = launched_as(environment);
  if (place.rank) {
    options.rank = place.rank->value;
    log(Level::kInfo, place.text());
  }
  if (!place.doubt.empty())
    log(Level::kWarning, "taking " + place.text() + ", but " + place.doubt +
                             "; DL_RANK says it outright");
  int& threads = options.trainer.threads;
  if (threads > 0) return place;
  const Threads share = share_cores(cores_of_process(), place, environment);
  threads = share.count;
  log(Level::kInfo, std::to_string(threads) +
                        (threads == 1 ? " thread (" : " threads (") +
                        share.why + ")");
  return place;
}

}  // namespace dl::cluster
