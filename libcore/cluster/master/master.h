// The work of dl-master: it trains, plans, measures or rebuilds.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MASTER_H_
#define DL_LIBCORE_CLUSTER_MASTER_MASTER_H_

#include <optional>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/log.h"
#include "libcore/cluster/run_config/master_options.h"

namespace dl::cluster {

// Final words of a run: one screen, and the same for machines.
struct Outcome {
  std::string text;
  Json json;
  // Error to be thrown after all output: the model is much worse than one that
  // the run had.
  std::optional<Error> verdict = std::nullopt;
  std::string remark = {};  // warning if there is no verdict, or ""
  std::string note = {};    // note that the run was too short to judge, or ""
};

// Returns when the model is written, or at once for a run that is finished
// already.
// Throws Error: kTryAgain, stopped with its state saved; kUnavailable, too few
// workers, or the address cannot be bound; and whatever is wrong with options,
// configuration, data and files.
Outcome run_master(const MasterOptions& options, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MASTER_H_
