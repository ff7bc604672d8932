#include "libcore/cluster/worker/slot_keeper.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/cluster/run_dir/round_step.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

namespace {

// A host whose memory or device is broken.
void garble(std::vector<std::byte>& coded) {
  if (failpoint("worker.garble", 2))
    for (std::size_t at = exchange::kDeltaHeaderBytes; at < coded.size();
         at += sizeof(float)) {
      float value;
      std::memcpy(&value, &coded[at], sizeof value);
      value = value < 0 ? 9.0F : -9.0F;
      std::memcpy(&coded[at], &value, sizeof value);
    }
  if (failpoint("worker.garble", 1))
    std::fill_n(coded.rbegin(), sizeof(float), std::byte{0xff});
}

bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

}  // namespace

void SlotKeeper::begin_session() {
  known_ = false;
  made_ = {};
  waiting_.clear();
  histories_.clear();
}

void SlotKeeper::take(State state) {
  if (settings_.outer.has_velocity() &&
      state.velocity.size() != state.parameters.size())
    throw Error{Code::kProtocol,
                "the master sent a velocity of " +
                    std::to_string(state.velocity.size()) + " values for " +
                    std::to_string(state.parameters.size()) + " parameters"};
  state_ = std::move(state);
  waiting_.clear();
  known_ = true;
  differs_ = false;
  difference_.reset();
}

std::optional<Digest> SlotKeeper::take_difference() {
  return std::exchange(difference_, std::nullopt);
}

std::uint64_t SlotKeeper::newest() const {
  return waiting_.empty() ? state_.version : waiting_.back().version;
}

bool SlotKeeper::has(std::uint64_t version) const {
  return !known_ || version <= newest();
}

void SlotKeeper::take(Round round) {
  if (!known_ || round.version != newest() + 1)
    throw OutOfStep{"round " + std::to_string(round.version) +
                    " without the one before it"};
  waiting_.push_back(std::move(round));
  if (waiting_.size() > kMostOpenRounds) advance(state_.version + 1);
}

void SlotKeeper::advance(std::uint64_t version) {
  for (; state_.version < version && !waiting_.empty(); waiting_.pop_front())
    apply(waiting_.front());
}

void SlotKeeper::apply(const Round& round) {
  if (round.delta.empty()) {
    if (made_.version != round.version)
      throw OutOfStep{"round " + std::to_string(round.version) +
                      " that was made elsewhere"};
    std::swap(state_, made_);
    return;
  }
  exchange::OuterOptimizer outer = settings_.outer;
  outer.momentum = round.momentum;
  apply_average(round.delta, outer, constrain_, state_.parameters,
                state_.velocity);
  if (failpoint("worker.flip")) state_.parameters.front() += 1;
  const std::uint64_t digest =
      io::digest(std::as_bytes(std::span(state_.parameters)));
  if (round.digest != 0 && digest != round.digest && !differs_) {
    differs_ = true;
    difference_.emplace();
    difference_->sequence = round.version;
    difference_->digest = digest;
  }
  state_.statistics = round.statistics;
  state_.updater_state = round.updater_state;
  state_.version = round.version;
}

std::optional<SlotKeeper::Start> SlotKeeper::begin(const Task& task) {
  advance(task.version);
  if (!known_ || state_.version != task.version)
    throw OutOfStep{"task of round " + std::to_string(task.version) +
                    " without its parameters"};
  if (differs_) return std::nullopt;
  Start start{state_.parameters, state_.statistics, state_.updater_state, 0,
              state_.version};
  from_ = start.parameters;
  if (task.kind == TaskKind::kEvaluate) return start;
  if (settings_.updater_state == UpdaterState::kReset)
    start.afresh = task.iteration;
  if (!settings_.keeps_history()) return start;

  const Slot& slot = task.slot;
  start.version.reset();
  History& history = histories_[slot.index];
  if (slot.follows == 0) {
    history = History{};
    history.afresh = task.iteration;
  }
  if (history.round != slot.follows) return std::nullopt;
  if (settings_.updater_state == UpdaterState::kKeep) {
    start.updater_state = history.updater_state;
    start.afresh = history.afresh;
  }
  // The average does not have this slot's last round in it yet.
  const bool ahead = settings_.overlap && slot.follows > 0 &&
                     slot.follows + 1 == slot.round &&
                     task.version + 1 == slot.follows;
  if (ahead) start.statistics = history.statistics;
  const auto& own = ahead ? history.learnt : history.residual;
  if (!own.empty()) {
    base_.resize(state_.parameters.size());
    std::transform(state_.parameters.begin(), state_.parameters.end(),
                   own.begin(), base_.begin(), std::plus<>());
    from_ = start.parameters = base_;
  }
  return start;
}

Result SlotKeeper::finish_whole(const Task& task,
                                std::span<const float> parameters,
                                std::vector<float> statistics,
                                std::vector<float> updater_state) {
  Result result;
  result.lease = task.lease;
  result.fence = task.fence;
  result.round = task.slot.round;
  result.slot = task.slot.index;
  exchange::encode_delta(parameters, settings_.delta, {}, result.delta);
  made_.version = task.slot.round;
  made_.parameters.assign(parameters.begin(), parameters.end());
  made_.statistics = result.statistics = std::move(statistics);
  made_.updater_state = result.updater_state = std::move(updater_state);
  return result;
}

// The history goes on only if what it sends is finite.
std::vector<std::byte> SlotKeeper::code_with_history(
    const Slot& slot, std::span<const float> parameters,
    const std::vector<float>& statistics, std::span<float> room) {
  std::vector<float> own_room;
  if (room.size() != parameters.size()) {
    own_room.resize(parameters.size());
    room = own_room;
  }
  const std::span<float> delta = room;
  std::transform(parameters.begin(), parameters.end(), from_.begin(),
                 delta.begin(), std::minus<>());
  if (!are_finite(delta))
    throw Error{Code::kProtocol, "a difference is not finite"};
  History& history = histories_[slot.index];
  if (settings_.delta.lossy()) history.residual.resize(delta.size());
  if (settings_.overlap) {
    history.learnt.assign(delta.begin(), delta.end());
    if (settings_.delta.lossy())
      std::transform(delta.begin(), delta.end(), history.residual.begin(),
                     history.learnt.begin(), std::plus<>());
    history.statistics = statistics;
  }
  std::vector<std::byte> coded;
  exchange::encode_delta(delta, settings_.delta, history.residual, coded);
  history.round = slot.round;
  return coded;
}

std::optional<Result> SlotKeeper::finish(const Task& task,
                                         std::span<const float> parameters,
                                         std::vector<float> statistics,
                                         std::vector<float> updater_state,
                                         std::span<float> room) {
  if (is_whole(task)) {
    if (!are_finite(parameters)) return std::nullopt;
    return finish_whole(task, parameters, std::move(statistics),
                        std::move(updater_state));
  }
  Result result;
  result.lease = task.lease;
  result.fence = task.fence;
  result.round = task.slot.round;
  result.slot = task.slot.index;
  try {
    if (settings_.keeps_history())
      result.delta = code_with_history(task.slot, parameters, statistics, room);
    else
      exchange::encode_difference(parameters, from_, result.delta);
  } catch (const Error& error) {
    if (error.code() != Code::kProtocol) throw;
    return std::nullopt;
  }
  garble(result.delta);
  result.statistics = std::move(statistics);
  if (settings_.updater_state == UpdaterState::kAverage)
    result.updater_state = std::move(updater_state);
  else if (settings_.updater_state == UpdaterState::kKeep)
    histories_[task.slot.index].updater_state = std::move(updater_state);
  return result;
}

}  // namespace dl::cluster
