// Applies the updates of a log, in averaging its rounds, to what a checkpoint
// holds.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_REPLAY_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_REPLAY_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log.h"
#include "libcore/nn/model/model.h"

namespace dl::cluster {

constexpr std::uint64_t kLastUpdate = std::numeric_limits<std::uint64_t>::max();

// Applies the updates after state.version, up to `until`, that the logs of the
// folder have without a gap: parameters and counters become what they were
// after the last of them.  In averaging so does all else; in sharing running
// statistics follow at an epoch's end only, the updater state not at all.
// Returns the number of updates.  at_epoch_end, if given, sees the state as it
// was after each epoch on the way. Damaged, truncated or missing parts are
// warned of, and nothing after it is applied. Throws Error: kData, a log is of
// another run, or has an update that cannot be applied; kProtocol, it is of
// another version; kIo.
std::uint64_t replay(
    const std::string& folder, const LogIdentity& identity, RunState& state,
    std::uint64_t until, const Log& log,
    const std::function<void(const RunState&)>& at_epoch_end = nullptr);

struct Saved {
  std::string path;
  std::uint64_t version = 0;
  std::size_t parameters = 0;
};
// The checkpoints that can be read, oldest first; others are warned of.
// Throws Error: kNoInput, there is no such folder.
std::vector<Saved> saved_checkpoints(const std::string& folder, const Log& log);

// The state of a run in a checkpoint; takes its vectors. name: for messages.
// Throws Error: kData.
RunState state_of(nn::Model& checkpoint, const std::string& name);

// XXH3 of the folder's run.json as the run began with it, and the number of
// parameters.
// Throws Error: kNoInput, kIo, kData.
LogIdentity log_identity(const std::string& folder, std::size_t parameters);
// Whether a checkpoint, which says since 0.2 what its logs do, is of the run
// whose folder it is in.  Throws Error: kData.
void check_run(const nn::Model& checkpoint, const std::string& path);

// dl-master --replay: writes the model after update `step` to `output`; the
// last one if step is kLastUpdate.  Returns the step.
// Throws Error: kNoInput, kData, the step cannot be rebuilt: the message names
// those that can; kTryAgain, a master at work removes them before.
std::uint64_t replay_model(const std::string& folder, std::uint64_t step,
                           const std::string& output, const Log& log);

// Steps that can be rebuilt: ranges first..last, ascending. Logs that are
// damaged are warned of. Throws Error: kNoInput, kProtocol, kIo.
using Steps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Steps replayable_steps(const std::string& folder, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_REPLAY_H_
