// Sharing: the replica applies everybody's coded updates in the master's order.
// Its own update goes into a residual; what exceeds the threshold is sent, and
// applied only when the master has given it its place in the order.
//
// With push > 1 an update covers several mini-batches.  With fetch > 1 the
// network trains on parameters of its own between two looks at what the others
// did (Dean et al., NIPS 2012).

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/settings/gradient_sharing.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/sent_updates.h"
#include "libcore/cluster/worker/shared_parameters.h"
#include "libcore/cluster/worker/update_coder.h"
#include "libcore/io/digest.h"

namespace dl::cluster {
namespace {

constexpr double kSampleSeconds = 2;  // between two looks at the residual
// An answer that comes within this share of a mini-batch is waited for, so that
// on a fast network the next one has seen the update.
constexpr double kPatience = 0.02;

// Contents of a message, and where they are.
struct Prepared {
  std::span<const float> here;
  tensor::View there;  // on the device that keeps parameters and residual
};

class SharingLearner : public Learner {
 public:
  SharingLearner(std::unique_ptr<Replica> replica, const Settings& settings,
                 std::optional<nn::UpdaterConfig> updater, Mailbox& mail,
                 Log log, ParameterHistory* history)
      : replica_(std::move(replica)),
        settings_(settings.sharing),
        updater_(std::move(updater)),
        mail_(mail),
        log_(std::move(log)),
        keeper_(history ? nullptr
                        : keeper_of(*replica_, settings_, momentum())),
        sees_pieces_(!replica_->parameters_in_place().empty() &&
                     settings_.fetch == 1),
        coder_(keeper_
                   ? UpdateCoder(settings_, replica_->tensors(), *keeper_)
                   : UpdateCoder(settings_, replica_->tensors(), momentum())) {
    if (keeper_) {
      parameters_ = std::make_unique<DeviceParameters>(*replica_, *keeper_);
      return;
    }
    auto here = std::make_unique<HostParameters>(*replica_, settings_, history);
    here_ = here.get();
    parameters_ = std::move(here);
  }

  void begin_session(const Welcome& welcome, Ready& ready) override;
  void take_state(State state) override;
  void take(Message message) override;

  // A synchronous round holds updates back until all are in, so what is under
  // way is bounded by the round.
  bool can_train() const override {
    return settings_.staleness == 0 ||
           std::cmp_less(sent_.pending(), settings_.in_flight);
  }
  bool has(std::uint64_t version) const override {
    return !known_ || sequence_ >= version;
  }

  double patience() const override {
    if (sent_.pending() == 0 || settings_.staleness == 0) return 0;
    return answer_due_ - mail_.clock.seconds();
  }

  void begin(const Task& task) override;
  void settle() override;
  std::string train(Work& work, const nn::Batch& batch) override;
  void cut_short(const Work& work) override;
  void finish(const Work& work) override;
  Replica& replica() override { return *replica_; }

 private:
  void take_parameters(const State& state);
  void take_updater_state(std::span<const float> values);
  void forget_sent();
  void apply(Apply apply);
  void refused(const Stale& stale);
  void answer(const Check& check);

  double momentum() const { return updater_ ? updater_->momentum.initial : 0; }
  Prepared prepare();
  void keep(const Prepared& prepared);
  void fetch(const nn::Position& at);
  nn::Position position(const Work& work);
  void step_ahead(const nn::Position& at);
  double rate_of(const nn::Position& at) const;
  // Mini-batches of the update that is open for the lease.
  std::int64_t open_batches(const Work& work) const {
    return unsent_.lease == work.task.lease ? unsent_.count : 0;
  }
  bool completes_update(const Work& work) const;
  Replica::Step compute_by_pieces(const nn::Batch& batch,
                                  const nn::Position& at);
  bool answer_again(const Work& work);
  void begin_update(const Work& work);
  void send_update(const Prepared& prepared, bool by_pieces);
  void give_back(const SentUpdate& sent);
  void take_statistics(std::uint64_t number, std::span<const float> values);
  void count(ExchangeStats& stats);

  std::unique_ptr<Replica> replica_;
  SharingSettings settings_;
  std::optional<nn::UpdaterConfig> updater_;  // if gradients are shared
  Mailbox& mail_;
  Log log_;
  device::Device* const keeper_;  // of parameters and residual; null: the host
  const bool sees_pieces_;        // what the updater writes is in host memory
  UpdateCoder coder_;
  // As of update number sequence_.
  std::unique_ptr<SharedParameters> parameters_;
  HostParameters* here_ = nullptr;  // these, unless there is a keeper
  std::uint64_t sequence_ = 0;
  std::int64_t iteration_ = 0;  // of the last Apply
  std::uint64_t number_ = 0;    // of this worker
  // This start of a master, and that in which the parameters were the master's.
  std::string run_, parameters_run_;
  bool known_ = false;
  std::int64_t beside_ = 1;       // workers, if their residuals count
  double applied_ = 0;            // what the last update was multiplied with
  std::uint64_t fetched_ = 0;     // sequence_ that the network's came from
  std::int64_t since_fetch_ = 0;  // mini-batches; 0: fetch before the next

  // Mini-batches of all workers that the updater's state has gone through;
  // nothing: it came from elsewhere.
  std::optional<std::int64_t> lived_ = 0;
  std::int64_t epoch_ = 0;      // of the last task
  std::uint64_t setbacks_ = 0;  // of the run, as far as it knows
  std::uint64_t averages_ = 0;  // Statistics::number of those that it has
  Update unsent_;               // of mini-batches trained since the last one
  SentUpdates sent_;
  // Mini-batches of this lease below it have their answer.
  std::uint64_t answered_lease_ = 0;
  std::int64_t answered_ = 0;
  ExchangeStats stats_;    // not yet told to mail_.meter
  double answer_due_ = 0;  // until then it is worth waiting for
  double sampled_ = 0;     // when the residual was looked at
};

void SharingLearner::begin_session(const Welcome& welcome, Ready& ready) {
  sent_.lose_answers();
  if (run_ != welcome.run) averages_ = 0;
  unsent_ = {};
  answered_lease_ = 0;
  run_ = welcome.run;
  number_ = welcome.worker;
  ready.run = known_ ? parameters_run_ : "";
  ready.version = sequence_;
}

void SharingLearner::take_state(State state) {
  const bool known_before = known_;
  const bool first = !known_ || state.setbacks != setbacks_;
  setbacks_ = state.setbacks;
  if (!state.parameters.empty())
    take_parameters(state);
  else if (!known_ || state.version != sequence_)
    throw OutOfStep{"sent no parameters for update " +
                    std::to_string(state.version)};
  const bool anew = known_before && first;
  sent_.lose_answers();
  if (anew) forget_sent();
  unsent_ = {};
  answered_lease_ = 0;
  since_fetch_ = 0;
  iteration_ = 0;
  parameters_run_ = run_;
  // A worker keeps its own statistics, except for averages that it missed.
  if (first || state.averages > averages_)
    take_statistics(state.averages, state.statistics);
  if (!first) return;
  if (!state.updater_state.empty() || anew)
    take_updater_state(state.updater_state);
  if (state.threshold > 0) coder_.start_from(state.threshold);
}

// The run went back: what was computed from parameters that are no more is of
// no use, sent or not, though its mini-batches come again.
void SharingLearner::forget_sent() {
  constexpr std::int64_t kNoEpoch = -1;
  for (const SentUpdate& sent : sent_.leave_other_epochs(kNoEpoch))
    if (!sent.update.payload.empty()) coder_.drop(sent.update.payload);
  coder_.forget();
}

void SharingLearner::take_updater_state(std::span<const float> values) {
  replica_->set_updater_state(values);
  lived_.reset();
  if (std::ranges::all_of(values, [](float x) { return x == 0; })) lived_ = 0;
}

void SharingLearner::take_statistics(std::uint64_t number,
                                     std::span<const float> values) {
  averages_ = number;
  if (!values.empty()) replica_->set_statistics(values);
}

void SharingLearner::take_parameters(const State& state) {
  if (state.parameters.size() != coder_.elements())
    throw Error{Code::kProtocol, "the master sent " +
                                     std::to_string(state.parameters.size()) +
                                     " parameters, the network has " +
                                     std::to_string(coder_.elements())};
  parameters_->take(state);
  sequence_ = state.version;
  known_ = true;
}

void SharingLearner::take(Message message) {
  switch (message.type) {
    case MessageType::kApply:
      return apply(Apply::from_message(message));
    case MessageType::kStale:
      return refused(Stale::from_message(message));
    case MessageType::kCheck:
      return answer(Check::from_message(message));
    case MessageType::kStatistics: {
      const Statistics statistics = Statistics::from_message(message);
      return take_statistics(statistics.number, statistics.values);
    }
    default:
      return;
  }
}

// --- A mini-batch -----------------------------------------------------------

void SharingLearner::begin(const Task& task) {
  if (!known_) throw OutOfStep{"a task without parameters"};
  epoch_ = task.epoch;
  for (const SentUpdate& sent : sent_.leave_other_epochs(epoch_))
    if (sent.refused)
      give_back(sent);
    else if (!sent.update.payload.empty())
      coder_.drop(sent.update.payload);
}

// Whether the mini-batch was trained before, and its update is the answer.
bool SharingLearner::answer_again(const Work& work) {
  if (answered_lease_ == work.task.lease && work.batch() < answered_)
    return true;
  if (unsent_.count > 0 && unsent_.lease == work.task.lease) return false;
  auto sent = sent_.take_again(work.task.epoch, work.batch(),
                               work.task.count - work.done);
  if (!sent) return false;
  Update& update = sent->update;
  update.lease = answered_lease_ = work.task.lease;
  update.fence = work.task.fence;
  update.version = std::min(update.version, sequence_);
  answered_ = update.batch + update.count;
  mail_.outbox.push(update.to_message());
  sent_.add(std::move(*sent));
  return true;
}

std::string SharingLearner::train(Work& work, const nn::Batch& batch) {
  if (answer_again(work)) {
    ++work.done;
    work.examples += batch.examples();
    return {};
  }
  const nn::Position at = position(work);
  if (!updater_) coder_.follow(replica_->learning_rates(at));
  if (since_fetch_ == 0) fetch(at);
  const double before = stats_.compute;
  const bool sends = completes_update(work);
  const bool by_pieces = sends && sees_pieces_ && coder_.by_pieces();
  Replica::Step step;
  Prepared update;
  {
    const Stopwatch watch(mail_.clock, stats_.compute);
    step =
        by_pieces ? compute_by_pieces(batch, at) : replica_->compute(batch, at);
    if (step.fault.empty() && !by_pieces) update = prepare();
  }
  if (!step.fault.empty()) {
    if (step.updater_afresh) lived_ = 0;
    cut_short(work);
    // The residual may be what led there, and would lead there again.
    if (beside_ > 1) coder_.forget();
    return step.fault;
  }
  begin_update(work);
  const auto examples = batch.examples();
  const double loss = step.loss * static_cast<double>(examples);
  *lived_ += at.concurrent_replicas;
  ++unsent_.count;
  unsent_.examples += examples;
  unsent_.loss_sum += loss;
  ++work.done;
  work.examples += examples;
  work.loss_sum += loss;
  ++stats_.batches;
  const double seconds = stats_.compute - before;
  if (!sends) {
    keep(update);
  } else {
    send_update(update, by_pieces);
    answer_due_ = mail_.clock.seconds() + kPatience * seconds;
  }
  if (settings_.fetch > 1)
    here_->step_alone(static_cast<float>(rate_of(at)), update.here);
  since_fetch_ = (since_fetch_ + 1) % settings_.fetch;
  return {};
}

Prepared SharingLearner::prepare() {
  if (keeper_) return {.here = {}, .there = replica_->network().update()};
  return {.here = coder_.prepare(replica_->update()), .there = {}};
}

void SharingLearner::keep(const Prepared& prepared) {
  keeper_ ? coder_.keep(prepared.there) : coder_.keep(prepared.here);
}

// Learning rates go by the steps of all workers, of which it knows what came,
// and its own.  The place of a mini-batch in the epoch says nothing of them: a
// lease begins far ahead of what is done.
//
// An updater corrects for the steps that its state is of: of one with N workers
// and decay 1 - (1 - beta) N, as many as all have made in its life, by N.  That
// holds where N changes, and for the state of another worker.
nn::Position SharingLearner::position(const Work& work) {
  nn::Position at = work.position();
  if (settings_.staleness != 0)
    at.iteration = std::max(work.task.iteration, iteration_) +
                   sent_.pending_batches() + open_batches(work);
  if (!lived_) lived_ = at.iteration;
  at.updater_reset_at = at.iteration - *lived_ / at.concurrent_replicas;
  return at;
}

// Whether the next mini-batch is the last one of an update.
bool SharingLearner::completes_update(const Work& work) const {
  return open_batches(work) + 1 >= settings_.push ||
         work.done + 1 == work.task.count;
}

// The coder reads the update while the updater writes it.
Replica::Step SharingLearner::compute_by_pieces(const nn::Batch& batch,
                                                const nn::Position& at) {
  coder_.begin();
  Replica::Step step = replica_->compute(
      batch, at, [this](std::size_t from, std::span<const float> piece) {
        coder_.take(from, piece);
      });
  if (!step.fault.empty()) coder_.undo(replica_->update());
  return step;
}

void SharingLearner::cut_short(const Work& work) {
  if (unsent_.lease == work.task.lease && unsent_.count > 0)
    send_update({}, false);
}

// The network takes over what has been applied.
void SharingLearner::fetch(const nn::Position& at) {
  beside_ = settings_.fetch == 1 ? at.concurrent_replicas : 1;
  if (beside_ > 1)
    step_ahead(at);
  else
    settle();
  fetched_ = sequence_;
  if (settings_.fetch > 1) here_->begin_alone();
}

void SharingLearner::settle() {
  since_fetch_ = 0;
  const Stopwatch watch(mail_.clock, stats_.decode);
  parameters_->settle();
}

double SharingLearner::rate_of(const nn::Position& at) const {
  return updater_ ? updater_->learning_rate.at(at.iteration, at.epoch) : 1;
}

// The gradient is that at where parameters are going: what the residuals hold
// back will come, that of others as much of it as comes now.  What this worker
// has done it knows, and steps that whole way.
void SharingLearner::step_ahead(const nn::Position& at) {
  const Stopwatch watch(mail_.clock, stats_.decode);
  const double own =
      rate_of(at) * std::pow(kSmaller, static_cast<double>(setbacks_));
  parameters_->step_ahead(coder_, own, applied_, beside_);
}

// Unless one is open for the lease.  What another lease left unsent, because it
// was revoked, stays in the residual.
void SharingLearner::begin_update(const Work& work) {
  if (unsent_.count > 0 && unsent_.lease == work.task.lease) return;
  unsent_ = {};
  unsent_.lease = work.task.lease;
  unsent_.fence = work.task.fence;
  unsent_.batch = work.batch();
  unsent_.count = 0;
  unsent_.version = fetched_;
}

// by_pieces: of what compute_by_pieces() has taken.
void SharingLearner::send_update(const Prepared& prepared, bool by_pieces) {
  {
    const Stopwatch watch(mail_.clock, stats_.encode);
    const std::int64_t count = unsent_.count;
    std::vector<std::byte>& out = unsent_.payload;
    unsent_.quanta = by_pieces ? coder_.finish(count, out)
                     : keeper_ ? coder_.encode(prepared.there, count, out)
                               : coder_.encode(prepared.here, count, out);
    unsent_.threshold = coder_.threshold();
  }
  count(stats_);
  failpoint("worker.before_update");
  mail_.outbox.push(unsent_.to_message());
  failpoint("worker.after_update");
  sent_.add({epoch_, std::move(unsent_)});
  unsent_ = {};
  unsent_.count = 0;
}

void SharingLearner::count(ExchangeStats& stats) {
  ++stats.updates;
  stats.bytes += static_cast<std::int64_t>(unsent_.payload.size());
  stats.elements += static_cast<double>(coder_.elements());
  stats.quanta += static_cast<double>(unsent_.quanta);
  stats.threshold += unsent_.threshold;
  if (const double now = mail_.clock.seconds();
      now - sampled_ > kSampleSeconds) {
    stats.residual = coder_.residual_quantiles();
    sampled_ = now;
  }
  mail_.meter.add(std::exchange(stats, {}));
}

void SharingLearner::finish(const Work& work) {
  TaskDone done;
  done.lease = work.task.lease;
  done.fence = work.task.fence;
  done.examples = work.examples;
  done.statistics = replica_->statistics();
  mail_.outbox.push(done.to_message());
}

// --- What the master says ---------------------------------------------------

void SharingLearner::apply(Apply apply) {
  if (!known_ || apply.sequence <= sequence_) return;  // the State had it
  if (apply.origin == number_) {
    auto mine = sent_.applied(apply.batch);
    if (!mine)
      throw OutOfStep{"update " + std::to_string(apply.sequence) +
                      " said to be ours is not"};
    apply.payload = std::move(*mine);
  }
  if (apply.sequence != sequence_ + 1)
    throw OutOfStep{"missed update " + std::to_string(sequence_ + 1)};
  {
    const Stopwatch watch(mail_.clock, stats_.decode);
    parameters_->apply(apply);
  }
  // A synchronous round does not depend on what came with a State instead.
  if (beside_ > 1 && settings_.staleness != 0 && apply.origin != number_ &&
      !apply.payload.empty())
    coder_.hear(apply.payload, beside_);
  applied_ = apply.scale;
  sequence_ = apply.sequence;
  iteration_ = std::max(iteration_, apply.iteration);
  parameters_run_ = run_;
  if (const auto other = sent_.settle(apply)) give_back(*other);
}

void SharingLearner::refused(const Stale& stale) {
  if (const auto sent = sent_.refused(stale)) give_back(*sent);
}

// It was not applied, and will not be.
void SharingLearner::give_back(const SentUpdate& sent) {
  if (!sent.update.payload.empty()) coder_.give_back(sent.update.payload);
}

void SharingLearner::answer(const Check& check) {
  if (!known_ || sequence_ != check.sequence)
    throw OutOfStep{"asked for update " + std::to_string(check.sequence) +
                    " at " + std::to_string(sequence_)};
  Digest answer;
  answer.sequence = check.sequence;
  answer.digest = io::digest(std::as_bytes(parameters_->values()));
  answer.residual_norm = coder_.residual_norm();
  answer.mass = coder_.ledger();
  answer.exchange = mail_.tell_exchange();
  answer.statistics = replica_->statistics();
  if (check.updater_of == number_)
    answer.updater_state = replica_->updater_state();
  mail_.outbox.push(answer.to_message());
  if (answer.digest != check.digest)
    log_(Level::kWarning, "parameters differ from the master's at update " +
                              std::to_string(check.sequence) +
                              "; it will send them anew");
}

}  // namespace

std::unique_ptr<Learner> make_sharing_learner(
    std::unique_ptr<Replica> replica, const Settings& settings,
    std::optional<nn::UpdaterConfig> updater, Mailbox& mail, Log log,
    ParameterHistory* history) {
  return std::make_unique<SharingLearner>(std::move(replica), settings,
                                          std::move(updater), mail,
                                          std::move(log), history);
}

}  // namespace dl::cluster
