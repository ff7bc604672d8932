#include "libcore/cluster/worker/sync_keeper.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/base/heap.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

// The master's word comes one or two rounds later.
constexpr std::size_t kDigests = 4;

}  // namespace

void SyncKeeper::take(State state) {
  if (state.parameters.size() != parameters_.size() ||
      state.updater_state.size() != updater_.state_elements())
    throw Error{Code::kProtocol,
                "the master sent " + std::to_string(state.parameters.size()) +
                    " parameters and " +
                    std::to_string(state.updater_state.size()) +
                    " values of updater state, the network has " +
                    std::to_string(parameters_.size()) + " and " +
                    std::to_string(updater_.state_elements())};
  std::ranges::copy(state.parameters, parameters_.begin());
  statistics_ = std::move(state.statistics);
  updater_state_ = std::move(state.updater_state);
  version_ = said_ = state.version;
  known_ = true;
  differs_ = false;
  digests_.clear();
  difference_.reset();
}

std::optional<Digest> SyncKeeper::take_difference() {
  return std::exchange(difference_, std::nullopt);
}

void SyncKeeper::take(Round round) {
  // Only the master says what it digests to.
  if (!round.held || round.digest != 0) said_ = round.version;
  if (known_ && round.version <= version_) return compare(round);
  if (!known_ || round.version != version_ + 1)
    throw OutOfStep{"round " + std::to_string(round.version) +
                    " without the one before it"};
  if (round.held && round.pieces.empty())
    throw OutOfStep{"round " + std::to_string(round.version) +
                    " without its average"};
  version_ = round.version;
  if (differs_) return;
  const std::vector<float> before = statistics_;
  if (gradient_.size() != parameters_.size()) {
    own_room_.resize(parameters_.size());
    gradient_ = own_room_;
  }
  if (round.held)
    read_pieces(round);
  else
    read(round);
  constrain_.keep_frozen(statistics_, before);
  if (round.held || !round.delta.empty()) step(round);
  if (failpoint("worker.flip")) parameters_.front() += 1;
  digests_[version_] = io::digest(std::as_bytes(parameters_));
  while (digests_.size() > kDigests) digests_.erase(digests_.begin());
  compare(round);
}

void SyncKeeper::compare(const Round& round) {
  const auto own = digests_.find(round.version);
  if (differs_ || own == digests_.end() || round.digest == 0 ||
      own->second == round.digest)
    return;
  differs_ = true;
  difference_.emplace();
  difference_->sequence = round.version;
  difference_->digest = own->second;
}

void SyncKeeper::read(const Round& round) {
  statistics_ = round.statistics;
  if (!round.delta.empty()) exchange::read_delta(round.delta, gradient_);
}

// From the end on, where the statistics are; a piece goes once it was read.
void SyncKeeper::read_pieces(Round& round) {
  const auto take = [](std::span<const std::byte>& from, std::span<float> all,
                       std::size_t& end) {
    const std::size_t count = std::min(end, from.size() / sizeof(float));
    end -= count;
    const auto last = from.last(count * sizeof(float));
    std::memcpy(all.data() + end, last.data(), last.size());
    from = from.first(from.size() - last.size());
  };
  std::size_t statistics = statistics_.size(), gradients = gradient_.size();
  HeapTrimmer trimmer(gradient_.size_bytes());
  for (std::vector<std::byte>& bytes : round.pieces) {
    std::span<const std::byte> piece = bytes;
    take(piece, statistics_, statistics);
    take(piece, gradient_, gradients);
    if (!piece.empty()) throw Error{Code::kProtocol, "Round: too many pieces"};
    trimmer.freed(bytes.size());
    bytes = std::vector<std::byte>();
  }
  if (gradients > 0) throw Error{Code::kProtocol, "Round: too few pieces"};
}

void SyncKeeper::step(const Round& round) {
  nn::Position at;
  at.iteration = round.iteration;
  at.epoch = round.epoch;
  at.factor = round.factor;
  // Where this gives what is not finite, the digest tells: the master's was.
  updater_.step(at, gradient_, parameters_, updater_state_);
}

bool SyncKeeper::begin(const Task& task) const {
  if (!known_ || task.version > version_)
    throw OutOfStep{"task of round " + std::to_string(task.version) +
                    " without its parameters"};
  if (task.version < version_ && version_ > said_)
    throw OutOfStep{"task of round " + std::to_string(task.version + 1) +
                    ", whose step is taken"};
  return !differs_ && task.version == version_;
}

}  // namespace dl::cluster
