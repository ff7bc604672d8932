// An update of gradient sharing, applied to the state of a run: the same for
// the master that takes it in and for who reads it from the log again.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_STEP_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_STEP_H_

#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log_format.h"

namespace dl::cluster {

// Makes the state after the update of that before it: parameters, version,
// threshold and counters.  The caller decides which mini-batches are committed.
// The payload has passed inspect_threshold(), which told its size, the sum of
// magnitudes; 0 if it is empty.
void apply_update(const LogEntry& entry, double size, RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_UPDATE_STEP_H_
