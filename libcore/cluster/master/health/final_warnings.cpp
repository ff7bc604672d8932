#include "libcore/cluster/master/health/final_warnings.h"

#include "libcore/cluster/master/health/own_loss.h"
#include "libcore/cluster/run_config/choose_normalizers.h"
#include "libcore/cluster/run_config/class_order.h"
#include "libcore/cluster/run_config/oddities.h"
#include "libcore/cluster/run_dir/divergence.h"
#include "libcore/nn/data/baseline_loss.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kMostLabels = 65536;  // counted
constexpr std::int64_t kMostNumbers = 1 << 22, kFewLabels = 512;

bool has_constant_features(const data::Metadata& metadata) {
  const auto& known = metadata.statistics;
  return known && !known->min.empty() && known->min == known->max;
}

std::string remedy_of_order(const RunConfig& plan) {
  return plan.is_in_class_order
             ? std::string("examples are in the order of their classes; ") +
                   kShuffleRemedy
             : "";
}

// Advice for a run that has learnt nothing.
std::string remedy(const RunConfig& plan, const RunState& state,
                   const HeldOut& held_out) {
  if (plan.training && has_constant_features(plan.training->metadata()))
    return "all examples have the same features: look at how they were made";
  if (held_out.has_one_class)
    return "all labels of the training data are of one class: look at how "
           "they were made";
  if (std::string order = remedy_of_order(plan); !order.empty()) return order;
  if (has_plain_updater(plan.model.config))
    return remedy_of_scale(plan) +
           "take another updater, as adam, than the default, plain sgd with a "
           "learning rate of 0.001 (updater in dl-network(5))";
  return remedy_of_scale(plan) +
         remedy_of_nothing(state, held_out, plan.settings.mode,
                           plan.distance_moved(state.parameters));
}

// By some of the targets; nothing: they cannot be read any more.
std::optional<nn::BestConstant> constant_of(const RunConfig& plan,
                                            MasterData& data) {
  constexpr double kSure = 2;
  try {
    const std::int64_t most =
        std::clamp(kMostNumbers / nn::target_size(plan.model.config),
                   kFewLabels, kMostLabels);
    auto best = nn::best_constant(
        plan.model.config, data.metadata(), plan.model.normalizers,
        [&](const auto& take) { read_some(data, most, take); });
    if (best && data.examples() > most) best->loss -= kSure * best->error;
    return best;
  } catch (const Error&) {
    return std::nullopt;
  }
}

HeldOut held_out_of(const RunConfig& plan, const RunState& state) {
  HeldOut held_out{plan.settings.metric,
                   plan.evaluation ? plan.evaluation->examples() : 0,
                   plan.loss_of_chance, plan.accuracy_of_chance};
  held_out.steps = in_rounds(plan.settings.mode)
                       ? state.iteration - plan.iteration
                       : static_cast<std::int64_t>(state.version);
  if (plan.training)
    if (const auto best = constant_of(plan, *plan.training)) {
      held_out.constant_loss = best->loss;
      held_out.has_one_class = best->accuracy == 1.0;
    }
  if (plan.evaluation && held_out.metric == "accuracy")
    if (const auto best = constant_of(plan, *plan.evaluation)) {
      held_out.constant_accuracy = best->accuracy;
      held_out.constant_log_loss = best->log_loss;
    }
  if (is_in_doubt(state, held_out))
    held_out.beats_constant = beats_constant(plan, state);
  return held_out;
}

}  // namespace

std::string remedy_of_scale(const RunConfig& plan) {
  if (!plan.training) return "";
  return remedy_of_scale(plan.model.config, plan.model.normalizers.input(0),
                         plan.training->metadata());
}

void judge(const MasterOptions& options, const RunConfig& plan,
           const std::function<std::string(std::uint64_t)>& where_model,
           const RunState& state, Outcome& outcome) {
  const HeldOut held_out = held_out_of(plan, state);
  const bool ignores =
      limits_of(options).on_divergence == OnDivergence::kIgnore;
  const std::string why = ends_badly(state, held_out);
  if (const std::string nothing = learnt_nothing(state, held_out);
      why.empty() && !nothing.empty()) {
    const std::string text = nothing + "; " + remedy(plan, state, held_out);
    if (!is_no_better(state, held_out))
      outcome.remark = "little was learnt: " + text;
    else if (ignores)
      outcome.remark = "nothing was learnt: " + text;
    else
      outcome.verdict = Error{Code::kDiverged, "nothing was learnt: " + text};
  }
  if (const std::string unseen = fails_unseen(state, held_out);
      why.empty() && !outcome.verdict && !unseen.empty()) {
    const std::string order = remedy_of_order(plan);
    const std::string text =
        unseen + "; " +
        (order.empty() ? "look whether held-out data are of the same kind, and "
                         "take more data or a smaller network"
                       : order);
    if (ignores)
      outcome.remark = text;
    else
      outcome.verdict = Error{Code::kDiverged, text};
  }
  if (why.empty() && !outcome.verdict && outcome.remark.empty()) {
    outcome.remark = high_loss(state, held_out);
    outcome.note = too_short(state, held_out);
  }
  if (why.empty()) return;
  std::string text = "training ended badly: " + why;
  if (!plan.keep_best)
    text += "; '" + options.output + "' is what it ended with";
  const std::string better =
      where_model(better_version(state, plan.settings.metric));
  if (!better.empty()) text += "; " + better;
  text += "; " + remedy_of_scale(plan) + divergence_remedy(plan.settings.mode);
  if (!ignores && !plan.keep_best)
    outcome.verdict = Error{Code::kDiverged, text};
  else
    outcome.remark = text;
}

std::string lack_of_model(const MasterOptions& options, const Report& report,
                          const RunState& state) {
  const std::string lacking = report.lacking();
  if (lacking.empty() || state.setbacks > 0) return "";
  return "the model lacks much of what was learnt: " + lacking +
         "; the loss of training is that of workers, which have it; " +
         (options.sharing.threshold == SharingOptions().threshold
              ? "take more epochs"
              : "take the default --threshold, or more epochs");
}

}  // namespace dl::cluster
