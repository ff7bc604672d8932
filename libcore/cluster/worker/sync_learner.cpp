// Mode sync: each slot gives the gradient of one mini-batch, and all take the
// updater's step from their average.

#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/sync_keeper.h"
#include "libcore/exchange/delta.h"

namespace dl::cluster {
namespace {

class SyncLearner : public Learner {
 public:
  SyncLearner(std::unique_ptr<Replica> replica,
              const nn::NetworkConfig& network, int threads, Mailbox& mail)
      : replica_(std::move(replica)),
        keeper_(network, threads, shared_parameters()),
        mail_(mail) {}

  void begin_session(const Welcome&, Ready&) override {
    keeper_.begin_session();
  }
  void take_state(State state) override {
    keeper_.take(std::move(state));
    to_replica();
  }
  void take(const Message& message) override;
  bool has(std::uint64_t version) const override {
    return keeper_.has(version);
  }

  void begin(const Task& task) override {
    if (!keeper_.begin(task)) throw Superseded{};
    replica_->set_statistics(keeper_.statistics());
  }
  void settle() override {}
  std::string train(Work& work, const nn::Batch& batch) override;
  void finish(const Work& work) override;

  Replica& replica() override { return *replica_; }

 private:
  // The replica's own, where they are in host memory.
  std::span<float> shared_parameters() {
    const auto here = replica_->parameters_in_place();
    if (!here.empty()) return here;
    parameters_ = replica_->parameters();
    return parameters_;
  }
  void to_replica() {
    if (!parameters_.empty()) replica_->set_parameters(parameters_);
  }

  std::unique_ptr<Replica> replica_;
  std::vector<float> parameters_;  // where they are not
  SyncKeeper keeper_;
  Mailbox& mail_;
  ExchangeStats stats_;  // not yet told to mail_.meter
};

void SyncLearner::take(const Message& message) {
  if (message.type != MessageType::kRound) return;
  {
    const Stopwatch watch(mail_.clock, stats_.decode);
    keeper_.take(Round::from_message(message));
    to_replica();
  }
  if (const auto digest = keeper_.take_difference())
    mail_.outbox.push(digest->to_message());
}

std::string SyncLearner::train(Work& work, const nn::Batch& batch) {
  Replica::Step step;
  {
    const Stopwatch watch(mail_.clock, stats_.compute);
    step = replica_->gradient(batch, work.position());
  }
  ++stats_.batches;
  if (!step.fault.empty()) return step.fault;
  ++work.done;
  work.examples += batch.examples();
  work.loss_sum += step.loss * static_cast<double>(batch.examples());
  return {};
}

void SyncLearner::finish(const Work& work) {
  failpoint("worker.before_result");
  const Task& task = work.task;
  Result result;
  result.lease = task.lease;
  result.fence = task.fence;
  result.round = task.slot.round;
  result.slot = task.slot.index;
  result.examples = work.examples;
  result.loss_sum = work.loss_sum;
  {
    const Stopwatch watch(mail_.clock, stats_.encode);
    exchange::encode_delta(replica_->update(), {}, {}, result.delta);
    result.statistics = replica_->statistics();
  }
  mail_.meter.add(std::exchange(stats_, {}));
  mail_.outbox.push(result.to_message());
}

}  // namespace

std::unique_ptr<Learner> make_sync_learner(std::unique_ptr<Replica> replica,
                                           const nn::NetworkConfig& network,
                                           int threads, Mailbox& mail) {
  return std::make_unique<SyncLearner>(std::move(replica), network, threads,
                                       mail);
}

}  // namespace dl::cluster
