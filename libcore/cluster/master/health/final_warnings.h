// The verdict on the model of a run that is finished.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_FINAL_WARNINGS_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_FINAL_WARNINGS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "libcore/cluster/master/master.h"
#include "libcore/cluster/report/report.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/cluster/run_dir/run_state.h"

namespace dl::cluster {

// Whether the model is much worse than one that the run had, or of no use: the
// outcome's verdict or its remark.  where_model: as RunStore's.
void judge(const MasterOptions& options, const RunConfig& plan,
           const std::function<std::string(std::uint64_t)>& where_model,
           const RunState& state, Outcome& outcome);

// The part of a remedy that is for features which are not normalized, as a
// clause that others follow; "": it is not for these.
std::string remedy_of_scale(const RunConfig& plan);

// Sharing: warning that the model lacks much of what workers have learnt, or
// "".
std::string lack_of_model(const MasterOptions& options, const Report& report,
                          const RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_FINAL_WARNINGS_H_
