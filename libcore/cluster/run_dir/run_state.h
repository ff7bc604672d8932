// The state of a run, learnt values and progress: all that a checkpoint holds.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_RUN_STATE_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_RUN_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/health/loss_watch.h"
#include "libcore/cluster/run_dir/ranges.h"
#include "libcore/exchange/rules/fasgd.h"
#include "libcore/nn/update/constrainer.h"
#include "libcore/nn/update/host_updater.h"

namespace dl::cluster {

// RunState::reason of a run that --max-time ended.
constexpr const char* kTimeIsOver = "--max-time is over";

// One finished epoch.
struct EpochScore {
  std::int64_t epoch = 0;
  std::int64_t examples = 0;
  double loss = 0;  // mean loss over its examples
  // Metrics of held-out data; may be empty.
  std::map<std::string, double> metrics;
  std::uint64_t version = 0;  // version after the epoch; 0: not known
};

Json to_json(const EpochScore& score);

// A shard that no worker can use, or that has examples which kill workers: the
// epoch in which that was found leaves out what it has from mini-batch `from`
// on, later ones leave it out altogether.
struct BadShard {
  std::uint32_t shard = 0;
  std::int64_t epoch = 0, from = 0;
  bool operator==(const BadShard&) const = default;
};

// Factor of steps after a rollback.
constexpr double kSmaller = 0.5;

struct RunState {
  // The model, as flat vectors of nn::Network.
  std::vector<float> parameters, statistics, updater_state;
  // Averaging: velocity of the outer optimizer, and what coding has left out of
  // the averages sent so far; empty where there is none.
  std::vector<float> velocity, residual;

  std::int64_t epoch = 0;  // epoch in training; settings.epochs after the last
  Ranges committed;        // mini-batches of the epoch
  std::int64_t examples = 0;   // examples in these mini-batches
  double loss_sum = 0;         // mean loss times examples, summed over batches
  std::int64_t iteration = 0;  // with rounds: updater steps of a replica so far
  std::uint64_t version = 0;   // number of rounds; sharing: updates applied
  double threshold = 0;        // sharing: threshold of the last update
  std::optional<exchange::Fasgd> fasgd;  // sharing with that staleness rule
  nn::Constrainer constrain;             // applied after each update or round
  // The network's updater, for rounds of sync; copies of a state share it, and
  // it has no state of its own.
  std::shared_ptr<nn::HostUpdater> updater;
  std::int64_t lr_warmup = 0;  // Settings::lr_warmup of `updater`

  std::vector<BadShard> bad_shards;  // in the order in which they went bad
  // Mini-batches of this epoch that are passed over.
  std::vector<std::int64_t> bad_batches;
  std::int64_t passed_over = 0;  // examples passed over in finished epochs

  LossWatch watch;            // losses of the run so far
  double step_factor = 1;     // factor of updates in sharing, else of the rate
  std::int64_t setbacks = 0;  // number of rollbacks for smaller steps

  double elapsed = 0;     // seconds of all incarnations
  bool finished = false;  // whether nothing is left to do
  std::string reason;     // reason for an end before the last epoch
  std::vector<EpochScore> history;
  Json early_stopping;

  // Shards that the epoch is made without, ascending.
  std::vector<std::uint32_t> without() const;
  double loss() const;  // mean loss of the epoch; NaN before the first

  // Counts the training behind an update or a round that was applied and is
  // counted in version.  The others: as in LossWatch::add().
  void count(std::int64_t batches, std::int64_t trained_examples,
             double their_loss_sum, double applied, std::uint64_t staleness = 0,
             bool together = false);

  // Puts a mean in the place of losses of the epoch so far that were false.
  void replace_losses(double their_loss_sum, std::int64_t trained_examples,
                      double mean);

  // Everything but the vectors and fasgd.
  Json to_json() const;
  // Throws Error: kData.
  void restore(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_RUN_STATE_H_
