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
                   Link& link)
      : replica_(std::move(replica)), settings_(settings), link_(link) {}

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

  std::string train(Lease& lease, const nn::Batch& batch) override {
    const Replica::Step step = replica_->compute(batch, lease.position());
    if (!step.fault.empty()) return step.fault;
    replica_->network().apply_update();
    ++lease.done;
    lease.examples += batch.examples();
    lease.loss_sum += step.loss * static_cast<double>(batch.examples());
    return {};
  }

  void finish(const Lease& lease) override {
    failpoint("worker.before_result");
    Result result;
    result.lease = lease.task.lease;
    result.fence = lease.task.fence;
    result.examples = lease.examples;
    result.loss_sum = lease.loss_sum;
    result.parameters = replica_->parameters();
    result.statistics = replica_->statistics();
    if (settings_.average_updater)
      result.updater_state = replica_->updater_state();
    link_.outbox.push(result.to_message());
  }

  Replica& replica() override { return *replica_; }

 private:
  std::unique_ptr<Replica> replica_;
  Settings settings_;
  Link& link_;
  State state_;
  bool known_ = false;
};

}  // namespace

std::unique_ptr<Learner> make_averaging_learner(
    std::unique_ptr<Replica> replica, const Settings& settings, Link& link) {
  return std::make_unique<AveragingLearner>(std::move(replica), settings, link);
}

}  // namespace dl::cluster
