// Simulated synchronous training with a dense all-reduce.

#include "tests/simulation/all_reduce.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/nn/update/warmup.h"
#include "tests/simulation/examples.h"

namespace simulated {

using namespace dl::cluster;

namespace {

constexpr double kBytes = 1e9 / 8;  // of a gigabit

class Synchronous {
 public:
  Synchronous(const RunConfig& plan, const HostModel& model, Reduce kind,
              RunState& state, const dl::Log& log, Looks looks)
      : plan_(plan),
        model_(model),
        examples_(plan, log),
        state_(state),
        looks_(std::move(looks)),
        together_(model.workers * plan.settings.batch),
        replica_(
            dl::nn::with_warmup(plan.model.config, plan.settings.lr_warmup),
            plan.model.normalizers, together_, "cpu", 1) {
    replica_.set_parameters(state.parameters);
    replica_.set_statistics(state.statistics);
    replica_.set_updater_state({});
    const double bytes =
        sizeof(float) * static_cast<double>(state.parameters.size());
    reduce_seconds_ = seconds_of_reduce(model, kind, bytes);
    const auto workers = static_cast<double>(model.workers);
    if (model.workers == 1) return;
    step_bytes_ = static_cast<std::uint64_t>(
        kind == Reduce::kStar ? workers * bytes
                              : 2 * (workers - 1) / workers * bytes);
  }

  EpochResult epoch();
  std::uint64_t batches() const { return batches_; }
  double seconds() const { return seconds_; }

 private:
  void step(std::int64_t index);

  const RunConfig& plan_;
  const HostModel& model_;
  Examples examples_;
  RunState& state_;
  Looks looks_;
  const std::int64_t together_;  // examples of a step
  Replica replica_;
  Examples::Reader reader_;
  double reduce_seconds_ = 0, seconds_ = 0;
  std::uint64_t step_bytes_ = 0, batches_ = 0;  // of single workers
};

void Synchronous::step(std::int64_t index) {
  const auto epoch = static_cast<std::uint64_t>(state_.epoch);
  const auto& set = examples_.read(reader_, state_.epoch, index, together_);
  const Replica::Step step =
      replica_.train(replica_.network().batch_of(set),
                     {state_.iteration, state_.epoch,
                      dl::mix({epoch, static_cast<std::uint64_t>(index)})});
  if (!step.fault.empty()) throw dl::Error{dl::Code::kConfig, step.fault};
  const std::int64_t examples = set.examples();
  state_.examples += examples;
  state_.loss_sum += step.loss * static_cast<double>(examples);
  ++state_.iteration;
  ++state_.version;
  // All wait for the slowest.
  const auto busy = static_cast<std::size_t>(
      (examples + plan_.settings.batch - 1) / plan_.settings.batch);
  double slowest = 0;
  for (std::size_t worker = 1; worker <= busy; ++worker)
    slowest =
        std::max(slowest, seconds_of_batch(model_, worker, state_.version));
  seconds_ += slowest + reduce_seconds_;
  batches_ += busy;
  looks_.look(batches_, seconds_, [&] {
    state_.parameters = replica_.parameters();
    state_.statistics = replica_.statistics();
    return examples_.evaluate(state_);
  });
}

EpochResult Synchronous::epoch() {
  const std::int64_t steps = plan_.training->catalogue().batches(together_);
  for (std::int64_t i = 0; i < steps; ++i) step(i);
  state_.parameters = replica_.parameters();
  state_.statistics = replica_.statistics();
  EpochResult result;
  result.score = {state_.epoch, state_.examples, state_.loss(),
                  examples_.evaluate(state_)};
  result.seconds = seconds_;
  for (std::int64_t i = 0; i < steps; ++i) result.staleness.add(0);
  result.bytes_in = result.bytes_out =
      step_bytes_ * static_cast<std::uint64_t>(steps);
  state_.history.push_back(result.score);
  ++state_.epoch;
  state_.examples = 0;
  state_.loss_sum = 0;
  return result;
}

}  // namespace

double seconds_of_reduce(const HostModel& model, Reduce kind, double bytes) {
  if (model.workers == 1) return 0;
  const auto workers = static_cast<double>(model.workers);
  const double line = kBytes * model.gbit;
  const double master =
      kBytes * (model.master_gbit > 0 ? model.master_gbit : model.gbit);
  if (kind == Reduce::kStar)
    return 2 *
           (std::max(workers * bytes / master, bytes / line) + model.latency);
  return 2 * (workers - 1) * (bytes / workers / line + model.latency);
}

dl::Json train_synchronously(
    const RunConfig& plan, const HostModel& model, Reduce kind,
    const std::function<void(const EpochResult&)>& told, RunState& state,
    const dl::Log& log, Looks looks) {
  state = plan.start();
  Synchronous training(plan, model, kind, state, log, std::move(looks));
  Report report;
  while (state.epoch < plan.settings.epochs) {
    const EpochResult result = training.epoch();
    report.staleness.add(result.staleness);
    report.bytes_in += result.bytes_in;
    report.bytes_out += result.bytes_out;
    told(result);
  }
  state.finished = true;
  report.batches = training.batches();
  report.seconds = training.seconds();
  report.epochs = plan.settings.epochs;
  report.expected_per_epoch = plan.training->examples();
  report.parameters = plan.parameters;
  report.payload = report.batches * sizeof(float) *
                   static_cast<std::uint64_t>(plan.parameters);
  return report.to_json(state);
}

}  // namespace simulated
