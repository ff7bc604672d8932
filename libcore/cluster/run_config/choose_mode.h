// The mode that --mode auto takes, dl-exchange(7): the one of the run that goes
// on; else, where all workers are on this host, one process that trains alone;
// else by the workers that come: a single one trains alone, and whether several
// share or are in sync is measured (Master::choose).

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_CHOOSE_MODE_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_CHOOSE_MODE_H_

#include "libcore/base/log.h"
#include "libcore/cluster/run_config/master_options.h"

namespace dl::cluster {

// Puts a mode in the place of "auto", and what belongs to it: see
// MasterOptions::measure and ::merged.  log: told of a run's mode.
// Throws Error: kUsage, there is no such mode.
void choose_mode(MasterOptions& options, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_CHOOSE_MODE_H_
