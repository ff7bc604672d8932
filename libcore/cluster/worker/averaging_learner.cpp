// Averaging: each slot starts from what all share, trains some mini-batches by
// itself and sends how far it came.

#include <optional>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/slot_keeper.h"

namespace dl::cluster {
namespace {

class AveragingLearner : public Learner {
 public:
  AveragingLearner(std::unique_ptr<Replica> replica, const Settings& settings,
                   Mailbox& mail)
      : replica_(std::move(replica)),
        keeper_(settings.averaging,
                nn::Constrainer(replica_->network().config())),
        needs_updater_(settings.averaging.updater_state !=
                       UpdaterState::kReset),
        keeps_history_(settings.averaging.keeps_history()),
        mail_(mail) {}

  void begin_session(const Welcome&, Ready&) override {
    keeper_.begin_session();
    at_.reset();
  }
  void take_state(State state) override {
    keeper_.take(std::move(state));
    at_.reset();
  }

  void take(Message message) override {
    if (message.type == MessageType::kRound)
      keeper_.take(Round::from_message(std::move(message)));
    tell_difference();
  }
  bool has(std::uint64_t version) const override {
    return keeper_.has(version);
  }

  void begin(const Task& task) override {
    const Stopwatch watch(mail_.clock, stats_.decode);
    const auto start = keeper_.begin(task);
    tell_difference();
    if (!start) throw Superseded{};
    afresh_ = start->afresh;
    if (start->version && start->version == at_) return;
    replica_->set_parameters(start->parameters);
    replica_->set_statistics(start->statistics);
    replica_->set_updater_state(start->updater_state);
    at_ = start->version;
  }

  void settle() override {}

  std::string train(Work& work, const nn::Batch& batch) override {
    // After a fault the lease is given up, and the next one begins anew.
    nn::Position at = work.position();
    at.updater_reset_at = afresh_;
    at_.reset();
    Replica::Step step;
    {
      const Stopwatch watch(mail_.clock, stats_.compute);
      step = replica_->train(batch, at);
    }
    ++stats_.batches;
    if (!step.fault.empty()) return step.fault;
    ++work.done;
    work.examples += batch.examples();
    work.loss_sum += step.loss * static_cast<double>(batch.examples());
    return {};
  }

  void finish(const Work& work) override {
    failpoint("worker.before_result");
    std::optional<Result> result;
    {
      const Stopwatch watch(mail_.clock, stats_.encode);
      const std::span<const float> here = replica_->parameters_in_place();
      const std::vector<float> elsewhere =
          here.empty() ? replica_->parameters() : std::vector<float>();
      // The Result takes as much.
      if (!keeps_history_) replica_->release_room();
      result = keeper_.finish(
          work.task, here.empty() ? std::span(elsewhere) : here,
          replica_->statistics(),
          needs_updater_ ? replica_->updater_state() : std::vector<float>(),
          keeps_history_ ? replica_->room() : std::span<float>());
    }
    mail_.meter.add(std::exchange(stats_, {}));
    if (result && keeper_.is_whole(work.task)) at_ = work.task.slot.round;
    if (!result) {
      mail_.outbox.push(Fault{work.task.lease, work.task.fence,
                              work.batch() - 1, "the parameters are not finite"}
                            .to_message());
      return;
    }
    result->examples = work.examples;
    result->loss_sum = work.loss_sum;
    if (work.cut) result->count = work.task.count;
    mail_.outbox.push(std::move(*result).to_message());
  }

  Replica& replica() override { return *replica_; }

 private:
  void tell_difference() {
    if (const auto digest = keeper_.take_difference())
      mail_.outbox.push(digest->to_message());
  }

  std::unique_ptr<Replica> replica_;
  SlotKeeper keeper_;
  bool needs_updater_;  // to send or to keep
  bool keeps_history_;
  Mailbox& mail_;
  ExchangeStats stats_;  // not yet told to mail_.meter
  std::int64_t afresh_ = 0;
  // The replica is what this round makes, and nothing else.
  std::optional<std::uint64_t> at_;
};

}  // namespace

std::unique_ptr<Learner> make_averaging_learner(
    std::unique_ptr<Replica> replica, const Settings& settings, Mailbox& mail) {
  return std::make_unique<AveragingLearner>(std::move(replica), settings, mail);
}

}  // namespace dl::cluster
