// The settings of parameter averaging, dl-exchange(7).

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_AVERAGING_SETTINGS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_AVERAGING_SETTINGS_H_

#include <cstdint>

#include "libcore/base/json.h"
#include "libcore/base/names.h"
#include "libcore/exchange/codec/delta_format.h"
#include "libcore/exchange/rules/outer_optimizer.h"

namespace dl::cluster {

// Treatment of updater state after a round: averaged over the replicas, kept by
// each worker, or started afresh.
enum class UpdaterState { kAverage, kKeep, kReset };
constexpr Names<UpdaterState, 3> kUpdaterStateNames{
    {{{UpdaterState::kAverage, "average"},
      {UpdaterState::kKeep, "keep"},
      {UpdaterState::kReset, "reset"}}}};

// Rounds open at a time with --overlap; without it one.
constexpr std::size_t kMostOpenRounds = 2;

struct AveragingSettings {
  std::int64_t frequency = 5;  // mini-batches of a replica in a round
  std::int64_t workers = 0;    // replicas; 0: all workers at a round's start
  UpdaterState updater_state = UpdaterState::kAverage;
  exchange::OuterOptimizer outer;
  // Whether outer.momentum is 1 - 1 / replicas.
  bool momentum_of_replicas = false;
  exchange::DeltaFormat delta;
  bool overlap = false;  // whether the next round begins during averaging
  // A round of one replica is as long as time allows, and makes what the same
  // mini-batches make without rounds: nothing is coded or averaged.
  bool alone = false;

  // Whether what a slot gives depends on its rounds before; it then stays with
  // its worker.
  bool keeps_history() const {
    return overlap || delta.lossy() || updater_state == UpdaterState::kKeep;
  }

  // Settings for rounds in which the updater takes one step from all slots'
  // gradients: each slot one mini-batch, and nothing else differs from the
  // usual.
  static AveragingSettings for_sync(std::int64_t workers) {
    AveragingSettings s;
    s.frequency = 1;
    s.workers = workers;
    return s;
  }

  Json to_json() const;
  static AveragingSettings from_json(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_AVERAGING_SETTINGS_H_
