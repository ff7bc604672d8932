// Mode sync: each slot gives the gradient of one mini-batch, in pieces from its
// end on, and all take the updater's step from their average.

#include <algorithm>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/tree/pieces.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/sync_keeper.h"

namespace dl::cluster {
namespace {

// Memory of a gradient goes in blocks of this size.
constexpr std::size_t kHeldElements = std::size_t{8} << 20;

class SyncLearner : public Learner {
 public:
  SyncLearner(std::unique_ptr<Replica> replica,
              const nn::NetworkConfig& network, int threads, Mailbox& mail)
      : replica_(std::move(replica)),
        keeper_(network, threads, shared_parameters(), replica_->room()),
        mail_(mail) {}

  void begin_session(const Welcome&, Ready&) override {
    keeper_.begin_session();
  }
  void take_state(State state) override {
    keeper_.take(std::move(state));
    to_replica();
  }
  void take(Message message) override;
  bool has(std::uint64_t version) const override {
    return keeper_.has(version);
  }

  void begin(const Task& task) override {
    if (!keeper_.begin(task)) throw Superseded{};
    pieces_ =
        pieces_of(keeper_.parameters().size() + keeper_.statistics().size(),
                  task.slot.slots);
    replica_->set_statistics(keeper_.statistics());
  }
  void settle() override {}
  std::string train(Work& work, const nn::Batch& batch) override;
  void finish(const Work& work) override;

  Replica& replica() override { return *replica_; }

 private:
  // Sums over the examples of a gradient.
  struct GradientTotals {
    double loss;
    std::int64_t examples;
  };
  void give(const Work& work, const GradientTotals& of, std::size_t from,
            std::span<const float> found);
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
  // State of the mini-batch in hand.
  std::vector<Piece> pieces_;
  std::size_t given_ = 0;
  std::size_t held_ = 0;  // elements of its gradient that have memory
  std::vector<float> statistics_;
  Message last_;
  ExchangeStats stats_;  // not yet told to mail_.meter
};

void SyncLearner::take(Message message) {
  if (message.type != MessageType::kRound) return;
  {
    const Stopwatch watch(mail_.clock, stats_.decode);
    keeper_.take(Round::from_message(std::move(message)));
    to_replica();
  }
  if (const auto digest = keeper_.take_difference())
    mail_.outbox.push(digest->to_message());
}

// Pieces are sent while the rest is computed.
std::string SyncLearner::train(Work& work, const nn::Batch& batch) {
  Replica::Step step;
  given_ = 0;
  {
    const Stopwatch watch(mail_.clock, stats_.compute);
    step = replica_->gradient(
        batch, work.position(),
        [&](double loss, std::size_t from, std::span<const float> found) {
          give(work, {loss, batch.examples()}, from, found);
        });
  }
  ++stats_.batches;
  if (!step.fault.empty()) return step.fault;
  ++work.done;
  return {};
}

// The last piece waits for finish().  The memory of a gradient goes as its
// pieces come, which are kept until the round is over.
void SyncLearner::give(const Work& work, const GradientTotals& of,
                       std::size_t from, std::span<const float> found) {
  if (given_ == 0) {
    statistics_ = replica_->statistics();
    held_ = from + found.size();
  }
  for (; given_ < pieces_.size() && pieces_[given_].first >= from; ++given_) {
    const Piece& piece = pieces_[given_];
    Part part;
    part.round = work.task.slot.round;
    part.parties = work.task.slot.parties;
    part.slots = work.task.slot.slots;
    part.slot = work.task.slot.index;
    part.first = static_cast<std::int64_t>(piece.first);
    part.count = {work.task.lease, work.task.fence, of.examples,
                  of.loss * static_cast<double>(of.examples)};
    Message message = part.to_message();
    message.blobs = {bytes_of(piece, from, found, statistics_)};
    if (held_ - std::min(held_, piece.first) >= kHeldElements) {
      held_ = piece.first;
      replica_->release_room(held_);
    }
    if (given_ + 1 < pieces_.size())
      mail_.outbox.push(std::move(message));
    else
      last_ = std::move(message);
  }
}

void SyncLearner::finish(const Work&) {
  failpoint("worker.before_result");
  mail_.meter.add(std::exchange(stats_, {}));
  mail_.outbox.push(std::move(last_));
  replica_->release_room();  // until the Round, as averages take as much
}

}  // namespace

std::unique_ptr<Learner> make_sync_learner(std::unique_ptr<Replica> replica,
                                           const nn::NetworkConfig& network,
                                           int threads, Mailbox& mail) {
  return std::make_unique<SyncLearner>(std::move(replica), network, threads,
                                       mail);
}

}  // namespace dl::cluster
