// Averaging: each slot starts from the same State, trains some mini-batches by
// itself and sends the whole replica.  A slot's result is a function of the
// State, the batches and the seed alone, so any worker may do it.

#include <utility>

#include "libcore/base/failpoint.h"
#include "libcore/cluster/learner.h"

namespace dl::cluster {
namespace {

class AveragingLearner : public Learner {
 public:
  AveragingLearner(std::unique_ptr<Replica> replica, const Settings& settings,
                   Mailbox& mail)
      : replica_(std::move(replica)), settings_(settings), mail_(mail) {}

  void begin_session() override { known_ = false; }

  void take_state(State state) override {
    state_ = std::move(state);
    known_ = true;
  }

  void take(const Message&) override {}  // no updates to apply
  bool can_train() const override { return true; }

  void begin(const Task& task) override {
    if (!known_ || state_.version != task.version)
      throw OutOfStep{"task of round " + std::to_string(task.version) +
                      " without its parameters"};
    replica_->set_parameters(state_.parameters);
    replica_->set_statistics(state_.statistics);
    replica_->set_updater_state(state_.updater_state);
  }

  void settle() override {}

  std::string train(Work& work, const nn::Batch& batch) override {
    // After a fault the lease is given up, and the next one begins anew.
    const Replica::Step step = replica_->train(batch, work.position());
    if (!step.fault.empty()) return step.fault;
    ++work.done;
    work.examples += batch.examples();
    work.loss_sum += step.loss * static_cast<double>(batch.examples());
    return {};
  }

  void finish(const Work& work) override {
    failpoint("worker.before_result");
    Result result;
    result.lease = work.task.lease;
    result.fence = work.task.fence;
    result.examples = work.examples;
    result.loss_sum = work.loss_sum;
    result.parameters = replica_->parameters();
    result.statistics = replica_->statistics();
    if (settings_.averaging.updater_state == UpdaterState::kAverage)
      result.updater_state = replica_->updater_state();
    mail_.outbox.push(result.to_message());
  }

  Replica& replica() override { return *replica_; }

 private:
  std::unique_ptr<Replica> replica_;
  Settings settings_;
  Mailbox& mail_;
  State state_;
  bool known_ = false;
};

}  // namespace

std::unique_ptr<Learner> make_averaging_learner(
    std::unique_ptr<Replica> replica, const Settings& settings, Mailbox& mail) {
  return std::make_unique<AveragingLearner>(std::move(replica), settings, mail);
}

}  // namespace dl::cluster
