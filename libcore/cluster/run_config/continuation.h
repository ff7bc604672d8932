// Going on with a run, perhaps under another command than it was begun with:
// what may differ, and where the run stands then.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_CONTINUATION_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_CONTINUATION_H_

#include <string>

#include "libcore/base/json.h"
#include "libcore/cluster/run_config/master_options.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/settings/settings.h"

namespace dl::cluster {

// Keeps defaults that depend on the version of dl-tools or on other options as
// they were when the run began.
void keep_defaults(const Json& before, const MasterOptions& options,
                   Settings& settings, bool& keep_best);

// Whether the state is finished, and why, by these settings; max_time as in
// Limits.  folder: for messages.
// Throws Error: kConfig, the run has begun more epochs than are wanted.
void decide_whether_finished(RunState& state, const Settings& settings,
                             double max_time, const std::string& folder);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_CONTINUATION_H_
