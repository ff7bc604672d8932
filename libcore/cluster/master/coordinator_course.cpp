// The part of the coordinator that takes a run through its epochs and saves it.

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/number_format.h"
#include "libcore/cluster/master/averaging/averaging_master.h"
#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/master/estimate_round.h"
#include "libcore/cluster/master/sharing/sharing_master.h"

namespace dl::cluster {

namespace {

constexpr int kMostFailedCheckpoints = 3;
constexpr double kEpochCheckpoints = 1;  // seconds between two, at the least

// What the update log may grow to before a checkpoint takes its place: so many
// times the checkpoint, and what is nothing to a disk.
constexpr std::uint64_t kLogForCheckpoint = 8;
constexpr std::uint64_t kLeastLog = std::uint64_t{64} << 20;

std::uint64_t most_log(const RunState& state) {
  const std::size_t floats = state.parameters.size() + state.statistics.size() +
                             state.updater_state.size() +
                             state.velocity.size() + state.residual.size();
  return std::max(kLeastLog, kLogForCheckpoint * sizeof(float) * floats);
}

}  // namespace

// --- The course -------------------------------------------------------------

void Coordinator::tick(double now) {
  context_.now = now;
  if (finished() || stopped_) return;
  watch_members();
  watch_stragglers();
  watch_training();
  settle_bad_data();
  feed_tree_.tick();
  if (stop_reason_.empty()) {
    if (!gathered()) return;
    if (!phase_) {
      if (!hooks_.measured) watch_score();
      begin_epoch();
    }
    watch_for_workers();
    watch_time();
  }
  if (phase_ && (stop_reason_.empty() || now < stop_deadline_)) phase_->tick();
  if (!stop_reason_.empty()) {
    if (phase_ && !phase_->done() && now < stop_deadline_) return;
    checkpoint();
    stopped_ = true;
    return;
  }
  // What comes next begins at once: no message may be due that would bring us
  // back here.
  while (!finished() && phase_->done()) {
    advance();
    if (!finished()) phase_->tick();
  }
  if (!finished()) checkpoint_if_due();
}

// What has been learnt is good: the same command may go on from it.
void Coordinator::settle_bad_data() {
  if (context_.failure || std::exchange(context_.save_soon, false))
    checkpoint();
  if (!context_.failure) return;
  throw Error(*context_.failure);
}

void Coordinator::stop(const std::string& reason, double now) {
  if (!stop_reason_.empty()) return;
  context_.now = now;
  stop_reason_ = reason;
  stop_deadline_ = now + context_.limits.grace;
  if (phase_) phase_->wind_up();
  context_.events.write("stop",
                        {{"why", reason}, {"epoch", context_.state.epoch}});
}

void Coordinator::begin_epoch() {
  for (Member* member : context_.members.present()) member->examples = 0;
  evaluation_ = nullptr;
  if (hooks_.measured)
    phase_ = std::make_unique<EstimateRound>(context_, *hooks_.measured);
  else if (context_.settings.mode == Mode::kAveraging)
    phase_ = std::make_unique<AveragingEpoch>(context_);
  else
    phase_ = std::make_unique<SharingEpoch>(context_);
}

void Coordinator::advance() {
  if (hooks_.measured) {
    phase_.reset();
    context_.state.finished = true;
    return;
  }
  if (evaluation_) return end_epoch(evaluation_->result());
  const RunState& state = context_.state;
  if (state.epoch + 1 >= context_.settings.epochs && !time_is_up_ &&
      state.watch.ends_badly() && go_back(state.watch.describe()))
    return;
  if (time_is_up_ && context_.state.examples == 0) return end_untrained();
  context_.state.committed = phase_->committed();
  passed_over_ = Json::object();
  if (!context_.state.bad_shards.empty())
    passed_over_ = {{"batches", phase_->batches()},
                    {"passed_over", phase_->passed_over()}};
  if (context_.evaluation.examples() == 0 ||
      context_.settings.evaluations.empty())
    return end_epoch({});
  auto evaluation = std::make_unique<EvaluationRound>(context_);
  evaluation_ = evaluation.get();
  phase_ = std::move(evaluation);
}

// The time was over before anything of the epoch was learnt.
void Coordinator::end_untrained() {
  context_.state.reason = kTimeIsOver;
  context_.state.finished = true;
  phase_.reset();
  checkpoint();
}

double Coordinator::score(
    const EvaluationRound::Evaluations& evaluations) const {
  if (context_.settings.metric.empty() || context_.settings.metric == "loss")
    return context_.state.loss();
  return eval::find_metric(evaluations, context_.settings.metric);
}

void Coordinator::end_epoch(const EvaluationRound::Evaluations& evaluations) {
  RunState& state = context_.state;
  const std::string metric =
      context_.settings.metric.empty() ? "loss" : context_.settings.metric;
  EpochScore result{
      state.epoch, state.examples, state.loss(), {}, state.version};
  Json found = Json::object();
  for (const auto& evaluation : evaluations) {
    const Json json = evaluation->to_json();
    found[evaluation->called(evaluation->kind())] =
        json.value("metrics", Json());
    const std::string name = eval::main_metric(*evaluation);
    result.metrics[evaluation->called(name)] = evaluation->metric(name);
  }
  const double value = score(evaluations);
  if (metric != "loss") result.metrics[metric] = value;
  if (!evaluations.empty())
    context_.events.write("evaluation",
                          {{"epoch", state.epoch}, {"metrics", found}});
  Json event = {{"epoch", state.epoch},
                {"examples", state.examples},
                {"loss", result.loss},
                {"version", state.version}};
  event.update(passed_over_);
  context_.events.write("epoch", std::move(event));
  std::string line = "epoch " + std::to_string(state.epoch + 1) + " of " +
                     std::to_string(context_.settings.epochs) + ": loss ";
  line += format("%.4g", result.loss);
  for (const auto& [name, each] : result.metrics)
    line += ", " + name + " " + metric_text(each);
  context_.log(Level::kInfo, line);

  if (early_stopping_.observe(state.epoch, value) && hooks_.keep_best)
    hooks_.keep_best();
  state.early_stopping = early_stopping_.to_json();
  state.reason = early_stopping_.verdict(metric);
  if (state.reason.empty() && time_is_up_) state.reason = kTimeIsOver;
  state.history.push_back(std::move(result));
  watch_score();
  if (!state.bad_shards.empty())
    state.passed_over += context_.training.examples() - state.examples;
  ++state.epoch;
  state.bad_batches.clear();
  state.committed.clear();
  state.examples = 0;
  state.loss_sum = 0;
  state.finished =
      state.epoch >= context_.settings.epochs || !state.reason.empty();
  if (state.finished && state.epoch >= context_.settings.epochs)
    state.reason.clear();
  phase_.reset();
  evaluation_ = nullptr;
  if (context_.updates) context_.updates->end_epoch(state);
  if (state.finished || epoch_checkpoint_is_due()) checkpoint();
  if (!state.finished) begin_epoch();
}

// --- Saving -----------------------------------------------------------------

// Epochs may be so short that saving each would take longer than training it;
// the update log has what a master that dies in between had learnt.
bool Coordinator::epoch_checkpoint_is_due() const {
  return context_.limits.checkpoint_every <= 0 ||
         context_.now - last_checkpoint_ >= kEpochCheckpoints;
}

void Coordinator::checkpoint_if_due() {
  if (!phase_ || !phase_->at_boundary()) return;
  const Limits& limits = context_.limits;
  const auto batches = static_cast<std::int64_t>(context_.report.batches -
                                                 batches_at_checkpoint_);
  if (batches == 0) return;
  const std::uint64_t logged = context_.updates ? context_.updates->size() : 0;
  const bool due =
      logged >= logged_at_checkpoint_ + most_log(context_.state) ||
      (limits.checkpoint_every > 0 &&
       context_.now - last_checkpoint_ >= limits.checkpoint_every) ||
      (limits.checkpoint_batches > 0 && batches >= limits.checkpoint_batches);
  if (due) checkpoint();
}

void Coordinator::checkpoint() {
  RunState& state = context_.state;
  if (phase_) {
    phase_->settle();
    state.committed = phase_->committed();
  }
  state.elapsed = elapsed_before_ + context_.now - started_;
  last_checkpoint_ = context_.now;
  batches_at_checkpoint_ = context_.report.batches;
  if (!all_finite(state.parameters))
    throw Error{Code::kConfig,
                "the parameters are no longer finite; the last checkpoint is "
                "from before that; lower the learning rate"};
  try {
    context_.report.checkpoint = hooks_.save();
    failed_checkpoints_ = 0;
    ++context_.report.checkpoints;
    context_.events.write("checkpoint",
                          {{"checkpoint", context_.report.checkpoint},
                           {"epoch", state.epoch},
                           {"committed", state.committed},
                           {"version", state.version},
                           {"finished", state.finished}});
    context_.log(Level::kDetail, "saved " + context_.report.checkpoint);
  } catch (const Error& error) {
    ++context_.report.checkpoint_failures;
    context_.events.write("fault", {{"why", error.what()}});
    if (++failed_checkpoints_ >= kMostFailedCheckpoints ||
        !stop_reason_.empty() || state.finished)
      throw Error{Code::kIo, std::string("no checkpoint could be written: ") +
                                 error.what()};
    context_.log(Level::kWarning, std::string(error.what()) +
                                      "; no checkpoint was written, training "
                                      "continues");
  }
  logged_at_checkpoint_ = context_.updates ? context_.updates->size() : 0;
}

}  // namespace dl::cluster
