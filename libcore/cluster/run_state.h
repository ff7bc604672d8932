// What a run has learnt and where it stands: all that a checkpoint holds.

#ifndef DL_LIBCORE_CLUSTER_RUN_STATE_H_
#define DL_LIBCORE_CLUSTER_RUN_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/lease.h"
#include "libcore/exchange/fasgd.h"

namespace dl::cluster {

// RunState::reason of a run that --max-time ended.
constexpr const char* kTimeIsOver = "--max-time is over";

// One epoch that is over.
struct EpochScore {
  std::int64_t epoch = 0;
  std::int64_t examples = 0;
  double loss = 0;                        // mean over its examples
  std::map<std::string, double> metrics;  // of held-out data; may be empty
};

Json to_json(const EpochScore& score);

struct RunState {
  // The model, as flat vectors of nn::Network.
  std::vector<float> parameters, statistics, updater_state;
  // Averaging: the outer optimizer's, and what coding has left out of the
  // averages sent so far; empty where there is none.
  std::vector<float> velocity, residual;

  std::int64_t epoch = 0;      // in training; settings.epochs when all are done
  Ranges committed;            // mini-batches of it
  std::int64_t examples = 0;   // in them
  double loss_sum = 0;         // mean loss of each times its examples
  std::int64_t iteration = 0;  // averaging: updater steps of a replica so far
  std::uint64_t version = 0;   // averaging: rounds; sharing: updates applied
  double threshold = 0;        // sharing: the last one seen
  std::optional<exchange::Fasgd> fasgd;  // sharing, with that staleness rule

  double elapsed = 0;     // seconds, of all incarnations
  bool finished = false;  // nothing is left to do
  std::string reason;     // why, if before the last epoch
  std::vector<EpochScore> history;
  Json early_stopping;

  double loss() const;  // mean of the epoch so far; NaN before the first

  // Everything but the vectors and fasgd.
  Json to_json() const;
  // Throws Error: kData.
  void restore(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_STATE_H_
