// Limits of a run on which its result does not depend.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_LIMITS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_LIMITS_H_

#include <cstdint>

#include "libcore/base/names.h"
#include "libcore/cluster/settings/topology.h"

namespace dl::cluster {

// Logs that the run directory keeps: those since the older of its two
// checkpoints, all (and the first checkpoint), or none.
enum class LogPolicy { kPrune, kKeep, kNone };
constexpr Names<LogPolicy, 3> kLogPolicyNames{{{{LogPolicy::kPrune, "prune"},
                                                {LogPolicy::kKeep, "keep"},
                                                {LogPolicy::kNone, "none"}}}};

// kReduce: rolls back and continues with smaller steps; stops where it cannot.
enum class OnDivergence { kReduce, kStop, kIgnore };
constexpr Names<OnDivergence, 3> kOnDivergenceNames{
    {{{OnDivergence::kReduce, "reduce"},
      {OnDivergence::kStop, "stop"},
      {OnDivergence::kIgnore, "ignore"}}}};

// Times in seconds; 0 for "never" where that makes sense.
struct Limits {
  double heartbeat = 2;     // seconds between two Beats
  double lost_after = 6;    // silence after which a worker is lost
  double stuck_after = 60;  // Beats without progress: a worker is stuck
  double wait = 120;        // wait for workers, at the start and when all left
  double grace = 25;        // time between a signal and leaving
  double checkpoint_every = 300;
  std::int64_t checkpoint_batches = 0;
  LogPolicy update_log = LogPolicy::kPrune;
  Topology topology = Topology::kAuto;
  std::int64_t fan_out = 8;  // children of a node of the tree, the master's too
  double max_time = 0;       // time of the run, all starts together
  std::int64_t min_workers = 1;      // workers needed before training starts
  std::int64_t skip_bad_shards = 0;  // number of shards that may go bad
  OnDivergence on_divergence = OnDivergence::kReduce;
  bool speculate = false;  // whether overdue work is leased twice
  // The Results of averaging and sync that have so many elements stay with
  // their workers until the master pulls them, piece by piece, so that its
  // memory does not grow with their number.
  std::int64_t pull_from = std::int64_t{1} << 20;
  // And from so many elements on the end of a round is worked out beside the
  // master's loop.
  std::int64_t end_aside_from = std::int64_t{1} << 24;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_LIMITS_H_
