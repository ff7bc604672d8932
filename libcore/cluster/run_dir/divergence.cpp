// Texts of verdicts on diverged or useless training.

#include "libcore/cluster/run_dir/divergence.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"
#include "libcore/eval/evaluation.h"

namespace dl::cluster {

namespace {

constexpr double kMuchWorse = 4;       // of scores that should be low
constexpr double kWorse = 2;           // than chance, losses
constexpr double kNoBetter = 0.98;     // ... that are as good as it
constexpr std::int64_t kSome = 16;     // blocks; before, it is early
constexpr std::int64_t kFew = 100;     // examples, for these
constexpr double kSure = 2;            // standard errors of a loss
constexpr double kInDoubt = 4;         // ... that do not tell
constexpr double kAlike = 0.002;       // losses, as a share
constexpr double kMostError = 0.05;    // ... that may be by chance
constexpr double kClearly = 0.9;       // ... that are lower without doubt
constexpr double kHardly = 0.02;       // that parameters have moved
constexpr std::int64_t kFewSteps = 8;  // tell nothing
constexpr std::size_t kFewEpochs = 4;  // tell no trend
constexpr int kLeastShown = 3, kMostShown = 7;  // digits
constexpr double kSame = 1e-6;                  // scores
constexpr double kByLuck = 5;                   // standard deviations

// Two losses, with as many digits as tell them apart.
struct Pair {
  std::string loss, other;
};
Pair pair_of(double loss, double other) {
  Pair pair;
  for (int digits = kLeastShown;
       digits <= kMostShown && pair.loss == pair.other; ++digits) {
    const std::string form = "%." + std::to_string(digits) + "g";
    pair = {format(form.c_str(), loss), format(form.c_str(), other)};
  }
  return pair;
}

bool has_few_steps(const HeldOut& held_out) {
  return held_out.steps && *held_out.steps < kFewSteps;
}

// The loss of a prediction that is always the same and knows nothing of the
// data, if that can be told.
std::optional<double> loss_of_chance(const HeldOut& held_out) {
  return held_out.loss_of_chance ? held_out.loss_of_chance
                                 : held_out.constant_loss;
}

// The lowest loss that a prediction can have which is always the same.
std::optional<double> loss_of_constant(const HeldOut& held_out) {
  const std::optional<double> chance = loss_of_chance(held_out);
  if (!held_out.constant_loss) return chance;
  return std::min(*chance, *held_out.constant_loss);
}

// A score that needs nothing learnt, of those that should be high.
double score_of_chance(const HeldOut& held_out) {
  if (held_out.metric.ends_with("auc")) return 0.5;
  if (held_out.metric != "accuracy") return held_out.accuracy_of_chance;
  return std::max(held_out.accuracy_of_chance,
                  held_out.constant_accuracy.value_or(0));
}

// Between two scores of so many examples that are no better than each other.
double by_luck(const HeldOut& held_out) {
  return kByLuck * std::sqrt(0.5 / static_cast<double>(std::max<std::int64_t>(
                                       1, held_out.examples)));
}

// A metric of the last epoch.
std::optional<double> last_of(std::span<const EpochScore> history,
                              const char* metric) {
  if (history.empty()) return std::nullopt;
  const auto found = history.back().metrics.find(metric);
  if (found == history.back().metrics.end()) return std::nullopt;
  return found->second;
}

// Large losses of a few examples may hide that the others are right; where most
// examples are of one class, accuracy hides what probabilities tell.
bool beats_chance(std::span<const EpochScore> history,
                  const HeldOut& held_out) {
  if (history.empty() || !held_out.metric.ends_with("accuracy")) return false;
  if (const auto log_loss = last_of(history, "log_loss");
      log_loss && held_out.constant_log_loss && held_out.examples >= kFew &&
      *log_loss < kNoBetter * *held_out.constant_log_loss)
    return true;
  const auto score = history.back().metrics.find(held_out.metric);
  return score != history.back().metrics.end() &&
         score->second > score_of_chance(held_out) + by_luck(held_out);
}

bool is_lost(const EpochScore& first, const HeldOut& held_out, double best,
             double last) {
  if (eval::higher_is_better(held_out.metric)) {
    const double chance = score_of_chance(held_out);
    return best > chance && last < chance + (best - chance) / 2 &&
           best - last > by_luck(held_out);
  }
  const auto begun = first.metrics.find(held_out.metric);
  return held_out.examples >= kFew && best > 0 && last > kMuchWorse * best &&
         begun != first.metrics.end() && last > 2 * begun->second;
}

}  // namespace

const EpochScore* best_score(std::span<const EpochScore> history,
                             const std::string& metric) {
  const EpochScore* best = nullptr;
  for (const EpochScore& each : history) {
    const auto found = each.metrics.find(metric);
    if (found == each.metrics.end() || !std::isfinite(found->second)) continue;
    if (!best || (eval::higher_is_better(metric)
                      ? found->second > best->metrics.at(metric)
                      : found->second < best->metrics.at(metric)))
      best = &each;
  }
  return best;
}

namespace {

std::int64_t examples_in(std::span<const EpochScore> history) {
  std::int64_t examples = 0;
  for (const EpochScore& each : history) examples += each.examples;
  return examples;
}

// The loss that a run ends with; none: it is too early to tell.  For the first
// epoch, which has the losses from before anything was learnt, blocks tell.
std::optional<double> last_loss(const RunState& state) {
  if (state.history.size() > 1 &&
      examples_in(state.history) >= LossWatch::kBlockExamples)
    return state.history.back().loss;
  if (state.watch.blocks() < kSome) return std::nullopt;
  return state.watch.level();
}

// Whether it is as high as `times` that of a constant prediction, and the end
// of the epoch no better; though it may always have been.
bool is_as_bad(const RunState& state, const HeldOut& held_out, double times) {
  const std::optional<double> loss = last_loss(state);
  if (!loss_of_chance(held_out) || !loss || has_few_steps(held_out))
    return false;
  const double chance =
      times > 1 ? *loss_of_chance(held_out) : *loss_of_constant(held_out);
  return *loss >= times * chance && !held_out.beats_constant.value_or(false) &&
         (state.watch.blocks() == 0 ||
          state.watch.level() >= kNoBetter * chance) &&
         !beats_chance(state.history, held_out);
}

std::string worse_than_chance(const RunState& state, const HeldOut& held_out) {
  if (!is_as_bad(state, held_out, kWorse)) return "";
  const Pair pair = pair_of(*last_loss(state), *loss_of_chance(held_out));
  return "the loss is " + pair.loss + ", and a constant prediction has " +
         pair.other;
}

}  // namespace

std::string divergence_remedy(Mode mode) {
  const char* const sharing =
      mode == Mode::kSharing
          ? ", or with several workers fewer, --combine mean or --staleness 0"
          : "";
  return std::string("take a lower learning rate") + sharing +
         ", with --fresh or in another --run";
}

std::string lost_score(std::span<const EpochScore> history,
                       const HeldOut& held_out) {
  const std::string& metric = held_out.metric;
  if (metric.empty() || metric == "loss" || history.empty()) return "";
  const EpochScore& last = history.back();
  const auto score = last.metrics.find(metric);
  const EpochScore* const best = best_score(history, metric);
  if (!best || score == last.metrics.end() ||
      !is_lost(history.front(), held_out, best->metrics.at(metric),
               score->second))
    return "";
  return metric + " is " + metric_text(score->second) + " after epoch " +
         std::to_string(last.epoch + 1) + " and was " +
         metric_text(best->metrics.at(metric)) + " after epoch " +
         std::to_string(best->epoch + 1);
}

namespace {

// The losses of a run of less than a block if they are as high as those of a
// constant prediction.
std::optional<LossWatch::Brief> high_brief(const RunState& state,
                                           const HeldOut& held_out) {
  auto brief = state.watch.brief();
  const auto chance = loss_of_constant(held_out);
  if (!brief || !chance || brief->loss < kNoBetter * *chance ||
      beats_chance(state.history, held_out))
    return std::nullopt;
  return brief;
}

// Whether the mean loss of epochs was still falling at the end.
bool falls_by_epochs(std::span<const EpochScore> history) {
  return history.size() > 1 &&
         history.back().loss <
             kNoBetter * history[(history.size() - 1) / 2].loss;
}

// Whether it fell by a tenth in the last epoch.
bool falls_fast(std::span<const EpochScore> history) {
  return history.size() > 1 &&
         history.back().loss < kClearly * history[history.size() - 2].loss;
}

// Whether each of the last epochs had a lower loss than the one before, by
// however little.
bool falls_steadily(std::span<const EpochScore> history) {
  if (history.size() < kFewEpochs) return false;
  const auto last = history.last(std::max(kFewEpochs, history.size() / 2));
  return std::ranges::adjacent_find(
             last, [](const EpochScore& a, const EpochScore& b) {
               return b.loss >= a.loss;
             }) == last.end();
}

// Whether so few losses tell: they do not fall, and are those of as many
// mini-batches as a block has with little noise, or higher beyond doubt.  A
// sound run of a dozen mini-batches may not be lower than chance yet.
bool is_certain(const LossWatch::Brief& brief,
                std::span<const EpochScore> history, double chance) {
  if (!brief.error || falls_by_epochs(history)) return false;
  const double noise = kSure * *brief.error;
  if (brief.mean - brief.loss > std::max(noise, kAlike * brief.loss))
    return false;
  if (brief.loss - noise >= (1 + kMostError) * chance) return true;
  return brief.batches >= LossWatch::kBlockBatches &&
         noise <= kMostError * chance && brief.loss >= (1 - kAlike) * chance;
}

// Whether the loss is no lower than that of the best constant prediction, whose
// probabilities are the shares of the classes.  The losses of a whole epoch
// tell; of the first one only its last, within their error where all held-out
// examples are put into one class, if nobody has measured it.
bool is_constant(const RunState& state, const HeldOut& held_out) {
  if (!held_out.constant_loss) return false;
  const double constant = *held_out.constant_loss;
  const LossWatch::Recent recent = *state.watch.recent();
  const double noise = std::min(kSure * recent.error, kMostError * constant);
  if (state.history.size() > 1)
    return state.history.back().loss >= (1 - kAlike) * constant &&
           recent.loss >= constant - noise;
  if (recent.loss >= (1 - kAlike) * constant) return true;
  if (state.history.empty() || !held_out.constant_accuracy) return false;
  const auto accuracy = state.history.back().metrics.find("accuracy");
  return accuracy != state.history.back().metrics.end() &&
         std::fabs(accuracy->second - *held_out.constant_accuracy) < kSame &&
         recent.loss >= constant - noise;
}

}  // namespace

bool is_in_doubt(const RunState& state, const HeldOut& held_out) {
  const auto recent = state.watch.recent();
  if (!held_out.constant_loss || !recent || has_few_steps(held_out) ||
      (state.history.size() > 1 && !falls_by_epochs(state.history)))
    return false;
  const double constant = *held_out.constant_loss;
  return recent->loss >=
         constant - std::max(kInDoubt * recent->error, kMostError * constant);
}

bool is_no_better(const RunState& state, const HeldOut& held_out) {
  if (has_few_steps(held_out)) return false;
  if (const auto brief = high_brief(state, held_out))
    return is_certain(*brief, state.history, *loss_of_constant(held_out));
  const auto recent = state.watch.recent();
  if (!loss_of_chance(held_out) || !recent ||
      beats_chance(state.history, held_out))
    return false;
  if (held_out.beats_constant) return !*held_out.beats_constant;
  const double loss = state.history.size() > 1
                          ? std::min(recent->loss, state.history.back().loss)
                          : recent->loss;
  // The error of losses that were much higher before is too large.
  const double chance = *loss_of_chance(held_out);
  // Blocks of a short run may be nearly all of it.
  if (is_constant(state, held_out)) return true;
  if (recent->last < kClearly * chance) return false;
  return loss >= (1 - kAlike) * chance -
                     std::min(kSure * recent->error, kMostError * chance);
}

std::string learnt_nothing(const RunState& state, const HeldOut& held_out) {
  if (has_few_steps(held_out)) return "";
  const bool never = loss_of_chance(held_out) && state.watch.learnt_nothing() &&
                     !held_out.beats_constant.value_or(false) &&
                     !beats_chance(state.history, held_out);
  if (!never && !is_as_bad(state, held_out, kNoBetter) &&
      !is_no_better(state, held_out))
    return "";
  std::optional<double> loss = last_loss(state);
  if (const auto recent = state.watch.recent(); recent && !loss)
    loss = recent->loss;
  if (!loss) loss = state.watch.brief()->loss;
  const double chance = never || *loss >= *loss_of_chance(held_out)
                            ? *loss_of_chance(held_out)
                            : *loss_of_constant(held_out);
  const Pair pair = pair_of(*loss, chance);
  return "the loss is " + pair.loss +
         (never             ? ", and was never much lower than the "
          : *loss >= chance ? ", no less than the "
                            : ", about the ") +
         pair.other + " of a constant prediction";
}

namespace {

std::string too_short_text(const std::string& after, double loss,
                           double chance) {
  const Pair pair = pair_of(loss, chance);
  return "the run is too short to judge: after " + after + " the loss is " +
         pair.loss + ", and a constant prediction has " + pair.other +
         "; take more epochs" +
         (loss >= kWorse * chance ? ", or a lower learning rate" : "");
}

}  // namespace

std::string too_short(const RunState& state, const HeldOut& held_out) {
  const auto brief = high_brief(state, held_out);
  if (brief &&
      (has_few_steps(held_out) ||
       !is_certain(*brief, state.history, *loss_of_constant(held_out))))
    return too_short_text(std::to_string(brief->batches) + " mini-batches of " +
                              std::to_string(brief->examples) + " examples",
                          brief->loss, *loss_of_constant(held_out));
  const auto recent = state.watch.recent();
  const auto chance = loss_of_constant(held_out);
  if (!has_few_steps(held_out) || !recent || !chance ||
      recent->loss < kNoBetter * *chance ||
      beats_chance(state.history, held_out))
    return "";
  const std::int64_t steps = *held_out.steps;
  return too_short_text(
             std::to_string(steps) + (steps == 1 ? " step" : " steps"),
             recent->loss, *chance) +
         ", or smaller mini-batches";
}

std::string high_loss(const RunState& state, const HeldOut& held_out) {
  const std::optional<double> loss = last_loss(state);
  const auto chance = loss_of_chance(held_out);
  if (!loss || !chance || *loss < kWorse * *chance ||
      !beats_chance(state.history, held_out))
    return "";
  const Pair pair = pair_of(*loss, *chance);
  return "the loss is " + pair.loss + ", and a constant prediction has " +
         pair.other + ", though the held-out " + held_out.metric + " is " +
         metric_text(state.history.back().metrics.at(held_out.metric)) +
         ": a few examples are predicted very wrongly, and probabilities are "
         "of "
         "no use; look at their labels and for outliers, or take a lower "
         "learning rate";
}

std::string fails_unseen(const RunState& state, const HeldOut& held_out) {
  const double uniform = held_out.accuracy_of_chance;
  if (held_out.metric != "accuracy" || held_out.examples < kFew ||
      has_few_steps(held_out) || !(uniform > 0) || state.history.empty())
    return "";
  // Held-out data may have other shares of the classes than the best constant
  // prediction could know; the one of equal shares knows nothing.
  const double unknowing = -std::log(uniform);
  const double chance = score_of_chance(held_out);
  const double luck = kSure * std::sqrt(chance * (1 - chance) /
                                        static_cast<double>(held_out.examples));
  const EpochScore* const best = best_score(state.history, "accuracy");
  const EpochScore* const surest = best_score(state.history, "log_loss");
  if (!best || !surest || best->metrics.at("accuracy") > chance + luck ||
      surest->metrics.at("log_loss") < kNoBetter * unknowing)
    return "";
  const Pair pair = pair_of(surest->metrics.at("log_loss"), unknowing);
  return "nothing was learnt that holds on held-out data: their accuracy is " +
         metric_text(best->metrics.at("accuracy")) +
         " at best and their log_loss " + pair.loss + ", and chance has " +
         metric_text(chance) + " and " + pair.other +
         ", though the loss of training is " +
         metric_text(state.history.back().loss);
}

std::string remedy_of_nothing(const RunState& state, const HeldOut& held_out,
                              Mode mode, double moved) {
  const std::span<const EpochScore> history = state.history;
  if (state.setbacks > 0 || is_as_bad(state, held_out, kWorse) ||
      state.watch.has_jumped())
    return divergence_remedy(mode);
  const std::string anew = "with --fresh or in another --run";
  if (falls_by_epochs(history))
    return falls_fast(history)
               ? "it still falls: take more epochs"
               : "it falls slowly: take more epochs or a higher learning rate";
  if (moved < kHardly)
    return "parameters have hardly moved: take more epochs, or a higher "
           "learning rate " +
           anew;
  const std::string labels = "look whether labels belong to their examples";
  if (falls_steadily(history))
    return "it falls, but very slowly: take many more epochs, or a higher "
           "learning rate " +
           anew + "; or " + labels;
  if (history.size() < kFewEpochs)
    return "so few epochs do not tell why: take more of them; if it does not "
           "fall then, " +
           labels + ", or take another learning rate";
  return "parameters have moved, to no use: " + labels +
         ", or take a lower learning rate, " + anew;
}

std::string ends_badly(const RunState& state, const HeldOut& held_out) {
  std::string text = state.watch.ends_badly()
                         ? state.watch.describe()
                         : worse_than_chance(state, held_out);
  const std::string score = lost_score(state.history, held_out);
  if (!score.empty()) text += (text.empty() ? "" : "; ") + score;
  return text;
}

std::uint64_t better_version(const RunState& state, const std::string& metric) {
  const EpochScore* const best = best_score(state.history, metric);
  const std::uint64_t version = state.watch.ends_badly()
                                    ? state.watch.sound_version()
                                : best ? best->version
                                       : 0;
  return version < state.version ? version : 0;
}

}  // namespace dl::cluster
