// Going on with a run, perhaps under another command than it was begun with:
// what may differ, and where the run stands then.

#ifndef DL_LIBCORE_CLUSTER_CONTINUATION_H_
#define DL_LIBCORE_CLUSTER_CONTINUATION_H_

#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/master_options.h"
#include "libcore/cluster/run_state.h"
#include "libcore/cluster/settings.h"

namespace dl::cluster {

// Of run.json, what shapes each epoch: it must not change.  The rest says how
// many epochs there are, how they are judged and which model is kept.
Json fixed_part(Json configuration);

// Whether the rest differs.
bool wants_otherwise(const Json& before, const Json& now);

// What the options leave to a default that depends on the version of dl-tools
// or on other options that may change stays as the run began with it.
void keep_defaults(const Json& before, const MasterOptions& options,
                   Settings& settings);

// Of all workers that there were.  Throws Error: kData.
std::vector<std::string> instructions_in(const Json& configuration);

// Whether the scores of the epochs before do not compare with those to come.
bool judges_otherwise(const Json& before, const Json& now);

// Whether the state is finished, and why, by these settings; max_time as in
// Limits.  folder: for messages.
// Throws Error: kConfig, the run has begun more epochs than are wanted.
void decide_whether_finished(RunState& state, const Settings& settings,
                             double max_time, const std::string& folder);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_CONTINUATION_H_
