// Going back, in the update log: a run that went wrong goes on from an earlier
// state with smaller steps.  The entry has all of that state, so that a replay
// needs nothing from before it.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_ROLLBACK_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_ROLLBACK_H_

#include <cstddef>
#include <vector>

#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log_format.h"

namespace dl::cluster {

// The payload of kSetback; `state` is where the run goes on.
std::vector<std::byte> encode_setback(const RunState& state);

// Throws Error: kData, the entry does not fit the network of the state; then
// that is as it was.
void apply_setback(const LogEntry& entry, RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_ROLLBACK_H_
