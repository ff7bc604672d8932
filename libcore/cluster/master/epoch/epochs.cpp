#include "libcore/cluster/master/epoch/epochs.h"

#include <memory>
#include <utility>

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/epoch/averaging/averaging_master.h"
#include "libcore/cluster/master/epoch/estimate_round.h"
#include "libcore/cluster/master/epoch/sharing/sharing_master.h"

namespace dl::cluster {

Epochs::Epochs(RunContext& context, const Hooks& hooks,
               Checkpointer& checkpoints)
    : context_(context),
      hooks_(hooks),
      checkpoints_(checkpoints),
      guard_(context, hooks, checkpoints),
      early_stopping_(early_stopping_of(context.settings, context.state)) {}

void Epochs::begin() {
  if (context_.phase) return;
  if (!hooks_.measured) guard_.watch_score();
  begin_epoch();
}

void Epochs::begin_epoch() {
  for (Member* member : context_.members.present()) member->examples = 0;
  context_.told_losses.begin_epoch();
  evaluation_ = nullptr;
  if (hooks_.measured)
    context_.phase =
        std::make_unique<EstimateRound>(context_, *hooks_.measured);
  else if (in_rounds(context_.settings.mode))
    context_.phase = std::make_unique<AveragingEpoch>(context_);
  else
    context_.phase = std::make_unique<SharingEpoch>(context_);
}

void Epochs::watch_training(bool stopping) {
  if (context_.phase && context_.phase->closing()) return;
  if (guard_.watch_training(evaluation_ || stopping || time_is_up_))
    begin_again();
}

// After going back.
void Epochs::begin_again() {
  early_stopping_ = early_stopping_of(context_.settings, context_.state);
  begin_epoch();
}

void Epochs::watch_time() {
  const double most = context_.limits.max_time;
  if (time_is_up_ || most <= 0 || context_.state.elapsed < most) return;
  time_is_up_ = true;
  if (!evaluation_) context_.phase->wind_up();
}

// The next part begins at once: no message may be due that would bring us back
// here.
void Epochs::tick() {
  const bool& finished = context_.state.finished;
  context_.phase->tick();
  while (!finished && context_.phase->done()) {
    advance();
    if (!finished) context_.phase->tick();
  }
}

void Epochs::advance() {
  if (hooks_.measured) {
    context_.phase.reset();
    context_.state.finished = true;
  } else if (evaluation_) {
    end_epoch(evaluation_->result());
  } else {
    end_training();
  }
}

void Epochs::end_training() {
  const RunState& state = context_.state;
  if (state.epoch + 1 >= context_.settings.epochs && !time_is_up_ &&
      state.watch.ends_badly() && !guard_.blame_worker() &&
      guard_.go_back(state.watch.describe()))
    return begin_again();
  if (time_is_up_ && state.examples == 0) return end_untrained();
  context_.state.committed = context_.phase->committed();
  passed_over_ = Json::object();
  if (!state.bad_shards.empty())
    passed_over_ = {{"batches", context_.phase->batches()},
                    {"passed_over", context_.phase->passed_over()}};
  if (context_.evaluation.examples() == 0 ||
      context_.settings.evaluations.empty())
    return end_epoch({});
  begin_evaluation();
}

// The time was over before anything of the epoch was learnt.
void Epochs::end_untrained() {
  context_.state.reason = kTimeIsOver;
  context_.state.finished = true;
  context_.phase.reset();
  checkpoints_.save(true);
}

void Epochs::begin_evaluation() {
  auto evaluation = std::make_unique<EvaluationRound>(context_);
  evaluation_ = evaluation.get();
  context_.phase = std::move(evaluation);
}

void Epochs::end_epoch(const Evaluations& evaluations) {
  EpochScore result = score(evaluations);
  announce(result, evaluations);
  keep_score(std::move(result));
  next_epoch();
}

std::string Epochs::metric() const {
  const std::string& metric = context_.settings.metric;
  return metric.empty() ? "loss" : metric;
}

EpochScore Epochs::score(const Evaluations& evaluations) const {
  const RunState& state = context_.state;
  EpochScore score{
      state.epoch, state.examples, state.loss(), {}, state.version};
  for (const auto& evaluation : evaluations)
    for (const std::string& name : eval::main_metrics(*evaluation))
      score.metrics[evaluation->called(name)] = evaluation->metric(name);
  if (metric() != "loss")
    score.metrics[metric()] = eval::find_metric(evaluations, metric());
  return score;
}

void Epochs::announce(const EpochScore& score, const Evaluations& evaluations) {
  Json found = Json::object();
  for (const auto& evaluation : evaluations) {
    Json& metrics = found[evaluation->called(evaluation->kind())] =
        evaluation->to_json().value("metrics", Json::object());
    metrics.erase("curves");  // long
  }
  if (!evaluations.empty())
    context_.events.write("evaluation",
                          {{"epoch", score.epoch}, {"metrics", found}});
  Json event = {{"epoch", score.epoch},
                {"examples", score.examples},
                {"loss", score.loss},
                {"version", score.version}};
  event.update(passed_over_);
  context_.events.write("epoch", std::move(event));
  std::string line = "epoch " + std::to_string(score.epoch + 1) + " of " +
                     std::to_string(context_.settings.epochs) + ": loss " +
                     format("%.4g", score.loss);
  for (const auto& [name, each] : score.metrics)
    line += ", " + name + " " + metric_text(each);
  context_.log(Level::kInfo, line);
}

void Epochs::keep_score(EpochScore score) {
  RunState& state = context_.state;
  const double value =
      metric() == "loss" ? score.loss : score.metrics.at(metric());
  if (early_stopping_.observe(state.epoch, value) && hooks_.keep_best)
    hooks_.keep_best();
  state.early_stopping = early_stopping_.to_json();
  state.reason = early_stopping_.verdict(metric());
  if (state.reason.empty() && time_is_up_) state.reason = kTimeIsOver;
  state.history.push_back(std::move(score));
  guard_.watch_score();
}

void Epochs::next_epoch() {
  RunState& state = context_.state;
  if (!state.bad_shards.empty())
    state.passed_over += context_.training.examples() - state.examples;
  ++state.epoch;
  state.bad_batches.clear();
  state.committed.clear();
  state.examples = 0;
  state.loss_sum = 0;
  const bool last = state.epoch >= context_.settings.epochs;
  state.finished = last || !state.reason.empty();
  if (last) state.reason.clear();
  context_.phase.reset();
  evaluation_ = nullptr;
  if (context_.updates) context_.updates->end_epoch(state);
  if (state.finished) return checkpoints_.save(true);
  checkpoints_.save_epoch();
  begin_epoch();
}

}  // namespace dl::cluster
