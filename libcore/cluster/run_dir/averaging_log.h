// Rounds of averaging and of sync in the update log: an entry has what makes
// the state after a round of the state before it.
//
// Parameters and velocity follow from the coded average, as they do in every
// worker, and in sync, where that is a gradient, so does updater state;
// statistics and averaged updater state are there as they were sent. The
// residual that a lossy format has left out of the averages does not follow
// from the messages: it is stored as it is, so that such an entry takes a
// little more than one of f32, and a master that goes on loses nothing of it.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_AVERAGING_LOG_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_AVERAGING_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message_averaging.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/update_log_format.h"
#include "libcore/exchange/rules/outer_optimizer.h"

namespace dl::cluster {

// Optimizer of a round: an outer optimizer, with the round's momentum; none:
// the network's updater (sync).
using RoundOptimizer = std::optional<exchange::OuterOptimizer>;

// The vectors that a step changes, and those alone: parameters and the outer
// optimizer's velocity, or parameters and updater state.
struct Stepped {
  std::vector<float> parameters, velocity, updater_state;

  void move_into(RunState& state) &&;
};
// The step from an average, which has as many elements as parameters; the state
// stays as it is.  Throws Error: kProtocol, what it gives is not finite.
Stepped step_from(std::vector<float> average, const RoundOptimizer& outer,
                  const RunState& state);
// The step from a coded average.  Throws Error: kProtocol, the average does not
// decode, or what it gives is not finite; then nothing happened.
void take_step(std::span<const std::byte> delta, const RoundOptimizer& outer,
               RunState& state);

// The payload of kRound but for the average, which is the entry's `rest`.
// steps: of a replica's updater.  residual: after the round; empty if nothing
// is left out.
std::vector<std::byte> encode_round_record(const Round& round,
                                           const RoundOptimizer& outer,
                                           std::int64_t steps,
                                           std::span<const float> residual);

// Makes the state after the round of that before it: its vectors, version,
// iteration and counters.
// Throws Error: kData, kProtocol, the entry does not fit the state; then that
// is as it was.
void apply_round(const LogEntry& entry, RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_AVERAGING_LOG_H_
