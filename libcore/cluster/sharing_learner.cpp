// Sharing: the replica applies everybody's coded updates in the master's order.
// Its own update goes into a residual; what exceeds the threshold is sent, and
// applied only when the master has given it its place in the order.

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/learner.h"
#include "libcore/exchange/threshold.h"
#include "libcore/io/digest.h"

namespace dl::cluster {
namespace {

class SharingLearner : public Learner {
 public:
  SharingLearner(std::unique_ptr<Replica> replica, const Settings& settings,
                 Mailbox& mail, Log log)
      : replica_(std::move(replica)),
        settings_(settings),
        mail_(mail),
        log_(std::move(log)),
        threshold_(settings.sharing.threshold.initial) {
    const auto n =
        static_cast<std::size_t>(replica_->network().parameters().elements());
    parameters_.resize(n);
    residual_.resize(n);
  }

  // Whether the last master applied what was pending is not known, and its
  // batches are leased again if not: they are forgotten.
  void begin_session(const std::string& run, Ready& ready) override {
    if (!pending_.empty())
      log_(Level::kDetail, std::to_string(pending_.size()) +
                               " updates of unknown fate forgotten");
    pending_.clear();
    run_ = run;
    ready.run = known_ ? parameters_run_ : "";
    ready.version = sequence_;
  }

  void take_state(State state) override {
    if (state.parameters.size() != parameters_.size())
      throw Error{Code::kProtocol, "the master sent " +
                                       std::to_string(state.parameters.size()) +
                                       " parameters, the network has " +
                                       std::to_string(parameters_.size())};
    parameters_ = std::move(state.parameters);
    pending_.clear();  // it answers them all
    changed_ = true;
    sequence_ = state.version;
    parameters_run_ = run_;
    known_ = true;
    if (!state.statistics.empty()) replica_->set_statistics(state.statistics);
    if (!state.updater_state.empty())
      replica_->set_updater_state(state.updater_state);
    if (state.threshold > 0 && batches_ == 0) threshold_ = state.threshold;
  }

  void take(const Message& message) override {
    if (message.type == MessageType::kApply)
      apply(Apply::from_message(message));
    if (message.type == MessageType::kStale)
      refused(Stale::from_message(message));
    if (message.type == MessageType::kCheck)
      answer(Check::from_message(message));
    if (message.type == MessageType::kStatistics)
      replica_->set_statistics(Statistics::from_message(message).values);
  }

  bool can_train() const override {
    return known_ &&
           std::cmp_less(pending_.size(), settings_.sharing.in_flight);
  }

  void begin(const Task&) override {
    if (!known_) throw OutOfStep{"a task without parameters"};
  }

  void settle() override {
    if (changed_) replica_->set_parameters(parameters_);
    changed_ = false;
  }

  std::string train(Work& work, const nn::Batch& batch) override;

  void finish(const Work& work) override {
    TaskDone done;
    done.lease = work.task.lease;
    done.fence = work.task.fence;
    done.examples = work.examples;
    done.statistics = replica_->statistics();
    mail_.outbox.push(done.to_message());
  }

  Replica& replica() override { return *replica_; }

 private:
  struct Pending {
    std::uint64_t lease;
    std::int64_t batch;
    std::vector<std::byte> payload;
  };

  void apply(Apply apply);
  void refused(const Stale& stale);
  void answer(const Check& check);

  std::unique_ptr<Replica> replica_;
  Settings settings_;
  Mailbox& mail_;
  Log log_;

  std::vector<float> parameters_;  // the device's copy follows in settle()
  bool changed_ = true;
  bool known_ = false;
  std::uint64_t sequence_ = 0;
  // This start of a master, and that in which the parameters were the master's.
  std::string run_, parameters_run_;
  std::vector<float> residual_;
  double threshold_;
  double clipped_ = 0;
  std::int64_t batches_ = 0;     // since the start
  std::deque<Pending> pending_;  // sent and not yet answered
};

std::string SharingLearner::train(Work& work, const nn::Batch& batch) {
  settle();
  const Replica::Step step = replica_->compute(batch, work.position());
  if (!step.fault.empty()) return step.fault;

  exchange::accumulate(residual_, replica_->update());

  Update update;
  update.lease = work.task.lease;
  update.fence = work.task.fence;
  update.batch = work.batch();
  update.version = sequence_;
  update.examples = batch.examples();
  update.loss_sum = step.loss * static_cast<double>(batch.examples());
  update.threshold = threshold_;
  const auto tau = static_cast<float>(threshold_);
  update.quanta = exchange::encode_threshold(residual_, tau, update.payload);
  pending_.push_back({update.lease, update.batch, update.payload});
  failpoint("worker.before_update");
  mail_.outbox.push(update.to_message());
  failpoint("worker.after_update");

  ++batches_;
  if (settings_.sharing.clip_every > 0 &&
      batches_ % settings_.sharing.clip_every == 0)
    clipped_ += exchange::clip_residual(
        residual_,
        static_cast<float>(settings_.sharing.clip_multiple * threshold_));
  threshold_ = settings_.sharing.threshold.next(
      threshold_, static_cast<double>(update.quanta) /
                      static_cast<double>(residual_.size()));
  ++work.done;
  work.examples += update.examples;
  work.loss_sum += update.loss_sum;
  return {};
}

void SharingLearner::apply(Apply apply) {
  if (apply.own) {
    const auto mine = std::ranges::find(pending_, apply.batch, &Pending::batch);
    if (mine == pending_.end())
      throw OutOfStep{"update " + std::to_string(apply.sequence) +
                      " said to be ours is not"};
    apply.payload = std::move(mine->payload);
    pending_.erase(mine);
  }
  if (!known_ || apply.sequence <= sequence_) return;  // the State had it
  if (apply.sequence != sequence_ + 1)
    throw OutOfStep{"missed update " + std::to_string(sequence_ + 1)};
  if (!apply.payload.empty()) {
    exchange::decode_threshold(apply.payload, -apply.scale, parameters_);
    changed_ = true;
  }
  sequence_ = apply.sequence;
  parameters_run_ = run_;
}

// Nobody applied it, so its quanta go back where they came from.
void SharingLearner::refused(const Stale& stale) {
  const auto it = std::ranges::find_if(pending_, [&](const Pending& p) {
    return p.lease == stale.lease && p.batch == stale.batch;
  });
  if (it == pending_.end()) return;  // a State answered it
  if (!it->payload.empty())
    exchange::decode_threshold(it->payload, 1.0F, residual_);
  pending_.erase(it);
}

void SharingLearner::answer(const Check& check) {
  if (!known_ || sequence_ != check.sequence)
    throw OutOfStep{"asked for update " + std::to_string(check.sequence) +
                    " at " + std::to_string(sequence_)};
  Digest answer;
  answer.sequence = check.sequence;
  answer.digest = io::digest(std::as_bytes(std::span(parameters_)));
  double squares = 0;
  for (const float r : residual_) squares += static_cast<double>(r) * r;
  answer.residual_norm = std::sqrt(squares);
  answer.clipped = clipped_;
  answer.statistics = replica_->statistics();
  if (check.updater_state) answer.updater_state = replica_->updater_state();
  mail_.outbox.push(answer.to_message());
  if (answer.digest != check.digest)
    log_(Level::kWarning, "parameters differ from the master's at update " +
                              std::to_string(check.sequence) +
                              "; it will send them anew");
}

}  // namespace

std::unique_ptr<Learner> make_sharing_learner(std::unique_ptr<Replica> replica,
                                              const Settings& settings,
                                              Mailbox& mail, Log log) {
  return std::make_unique<SharingLearner>(std::move(replica), settings, mail,
                                          std::move(log));
}

}  // namespace dl::cluster
