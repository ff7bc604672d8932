// Verdicts on a run whose training goes wrong, and on a model that is much
// worse than one that the run once had.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_DIVERGENCE_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_DIVERGENCE_H_

#include <optional>
#include <span>
#include <string>

#include "libcore/base/names.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/settings/settings.h"

namespace dl::cluster {

// Remedy for a divergence, as a clause.
std::string divergence_remedy(Mode mode);

// Scores of a run and their metric.
struct HeldOut {
  std::string metric;
  std::int64_t examples = 0;
  std::optional<double> loss_of_chance;  // nn/data/baseline_loss.h
  double accuracy_of_chance = 0;         // baseline of the metric
  // The loss on training data of the best constant prediction, and its accuracy
  // and log_loss on held-out data.
  std::optional<double> constant_loss = std::nullopt,
                        constant_accuracy = std::nullopt,
                        constant_log_loss = std::nullopt;
  // Whether all training data that were looked at are of one class.
  bool has_one_class = false;
  // Whether the model has a lower loss than any constant prediction, on the
  // same examples; none if not measured.
  std::optional<bool> beats_constant = std::nullopt;
  // Updater steps so far; none if there are enough.
  std::optional<std::int64_t> steps = std::nullopt;
};

// Whether the held-out score of the last epoch has lost half of what the best
// one had over chance, or more: "accuracy is 0.11 after epoch 3 and was 0.98
// after epoch 2"; "": it has not, or not beyond what so few examples may give,
// or the metric is the loss.
std::string lost_score(std::span<const EpochScore> history,
                       const HeldOut& held_out);

// Verdict on a finished run that has learnt nothing: so much, as a clause; ""
// of all others.
std::string learnt_nothing(const RunState& state, const HeldOut& held_out);
// Whether losses of the run's only epoch, or losses that still fall, are too
// near that of the best constant prediction, or above it, to tell it from the
// model: beats_constant is wanted.
bool is_in_doubt(const RunState& state, const HeldOut& held_out);
// Whether, within the error of its losses, its model is no better than a
// constant prediction.
bool is_no_better(const RunState& state, const HeldOut& held_out);
// The sentence on a run that is too short to tell; "": it is long enough, or
// its losses are lower.
std::string too_short(const RunState& state, const HeldOut& held_out);
// The sentence on a run whose loss is far above that of a constant prediction
// while its held-out accuracy is well above chance; "": it is not so.
std::string high_loss(const RunState& state, const HeldOut& held_out);
// The sentence on a run whose losses have fallen while no epoch was better on
// held-out data than chance, neither in accuracy nor in log_loss; "": it is not
// so, or there are too few held-out examples to tell.
std::string fails_unseen(const RunState& state, const HeldOut& held_out);
// The remedy for a run that has learnt nothing, as a clause.  moved: how far
// its parameters are from those that it began with, by the norm of these.
std::string remedy_of_nothing(const RunState& state, const HeldOut& held_out,
                              Mode mode, double moved);

// Defect of a finished run, or ""; as a clause.
std::string ends_badly(const RunState& state, const HeldOut& held_out);

// The epoch with the best score; null: none has it.
const EpochScore* best_score(std::span<const EpochScore> history,
                             const std::string& metric);

// The version of the model from before losses went wrong, or if they did not,
// of the best held-out score; 0: not known, or it is that of the state.
std::uint64_t better_version(const RunState& state, const std::string& metric);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_DIVERGENCE_H_
