#include "libcore/cluster/worker/rehearsal.h"

#include <cstring>
#include <optional>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/protocol/message_fields.h"
#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/worker/slot_keeper.h"
#include "libcore/exchange/rules/average.h"
#include "libcore/nn/update/host_updater.h"

namespace dl::cluster {

namespace {

State state_of(Replica& replica) {
  State state;
  state.parameters = replica.parameters();
  state.statistics = replica.statistics();
  return state;
}

// f(), a number of times and for so many seconds at the least.
template <typename F>
double mean_seconds(double least, F&& f) {
  constexpr int kFewest = 3;
  f();  // memory is touched
  const double begin = monotonic_seconds();
  double seconds = 0;
  int times = 0;
  for (; times < kFewest || seconds < least; ++times) {
    f();
    seconds = monotonic_seconds() - begin;
  }
  return seconds / times;
}

}  // namespace

SharingRehearsal::SharingRehearsal(Replica& replica,
                                   const SharingSettings& settings, float scale)
    : replica_(replica),
      ahead_(settings.fetch == 1),
      keeper_(keeper_of(replica, settings, 0)),
      coder_(keeper_ ? UpdateCoder(settings, replica.tensors(), *keeper_)
                     : UpdateCoder(settings, replica.tensors(), 0)) {
  if (keeper_)
    parameters_ = std::make_unique<DeviceParameters>(replica, *keeper_);
  else
    parameters_ = std::make_unique<HostParameters>(replica, settings, nullptr);
  parameters_->take(state_of(replica));
  apply_.scale = scale;
}

double SharingRehearsal::begin() {
  const double begin = monotonic_seconds();
  if (ahead_)
    parameters_->step_ahead(coder_, apply_.scale, apply_.scale, 2);
  else
    parameters_->settle();
  if (keeper_) keeper_->finish();
  return before_ = monotonic_seconds() - begin;
}

void SharingRehearsal::run(std::span<const float> update) {
  apply_.payload.clear();
  const double begin = monotonic_seconds();
  if (keeper_)
    coder_.encode(replica_.network().update(), 1, apply_.payload);
  else
    coder_.encode(update, 1, apply_.payload);
  const double between = monotonic_seconds();
  ++apply_.sequence;
  parameters_->apply(apply_);
  if (keeper_) keeper_->finish();
  encode.push_back(before_ + between - begin);
  decode.push_back(monotonic_seconds() - between);
}

RoundRehearsed rehearse_round(Replica& replica,
                              const AveragingSettings& settings,
                              double seconds) {
  SlotKeeper keeper(settings, nn::Constrainer(replica.network().config()));
  State state = state_of(replica);
  if (settings.outer.has_velocity())
    state.velocity.resize(state.parameters.size());
  if (settings.updater_state == UpdaterState::kAverage)
    state.updater_state = replica.updater_state();
  keeper.take(std::move(state));
  const std::span<const float> update = replica.update();
  RoundRehearsed rehearsed;
  Task task;
  rehearsed.seconds = mean_seconds(seconds, [&] {
    task.slot.follows = task.version;
    task.slot.round = task.version + 1;
    const auto start = keeper.begin(task);
    require(start.has_value(), "a round that follows the one before");
    replica.set_parameters(start->parameters);
    replica.set_statistics(start->statistics);
    replica.set_updater_state(start->updater_state);
    std::vector<float> moved = replica.parameters();
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= update[i];
    auto result = keeper.finish(task, moved, replica.statistics(),
                                settings.updater_state == UpdaterState::kReset
                                    ? std::vector<float>()
                                    : replica.updater_state());
    if (!result)
      throw Error{Code::kData,
                  "the update of a mini-batch is not finite; try a smaller "
                  "learning rate"};
    const Message message = result->to_message();
    rehearsed.bytes = 0;
    for (const auto& blob : message.blobs)
      rehearsed.bytes += static_cast<std::int64_t>(blob.size());
    Round round;
    round.version = ++task.version;
    round.momentum = settings.outer.momentum;
    round.delta = std::move(result->delta);
    round.statistics = std::move(result->statistics);
    round.updater_state = std::move(result->updater_state);
    keeper.take(Round::from_message(round.to_message()));
  });
  return rehearsed;
}

namespace {

// Where a step finds them, and in `apart` where that is not the host's memory.
std::span<float> parameters_of(Replica& replica, std::vector<float>& apart) {
  const std::span<float> here = replica.parameters_in_place();
  if (!here.empty()) return here;
  return apart = replica.parameters();
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

SyncRehearsal::SyncRehearsal(Replica& replica, const nn::NetworkConfig& network,
                             int threads, bool alone, Send send)
    : replica_(replica),
      alone_(alone),
      send_(std::move(send)),
      keeper_(network, threads, parameters_of(replica, apart_)) {
  State state = state_of(replica);
  pieces_ = pieces_of(state.parameters.size() + state.statistics.size(),
                      kRehearsedSlots);
  state.updater_state.resize(
      nn::HostUpdater(network, threads).state_elements());
  keeper_.take(std::move(state));
  round_.held = true;
}

// One who is alone sends all at once, when it is there; one of two tells the
// master that its slot is done, and hears where the step is.
std::size_t SyncRehearsal::compute(const nn::Batch& batch,
                                   const nn::Position& at) {
  given_ = 0;
  own_.clear();
  round_.pieces.clear();
  const Replica::Step step = replica_.gradient(
      batch, at, [&](double, std::size_t from, std::span<const float> found) {
        if (!alone_ || from == 0) give(from, found);
      });
  if (!step.fault.empty())
    throw Error{Code::kData, step.fault + "; try a smaller learning rate"};
  if (alone_) return pieces_.size();
  send_(std::vector<std::byte>(1), true);
  return pieces_.size() + 1;
}

// Each of two hosts averages every second piece.
void SyncRehearsal::give(std::size_t from, std::span<const float> found) {
  if (given_ == 0) statistics_ = replica_.statistics();
  for (; given_ < pieces_.size() && pieces_[given_].first >= from; ++given_) {
    const Piece& piece = pieces_[given_];
    std::vector<std::byte> values = bytes_of(piece, from, found, statistics_);
    if (!alone_ && given_ % 2 == 0) own_.push_back(floats_of(values));
    send_(std::move(values), true);
  }
}

void SyncRehearsal::take(std::vector<std::byte> echo) {
  const std::size_t index = round_.pieces.size();
  const bool last = index == pieces_.size();
  if (echo.size() != (last ? 1 : pieces_[index].count * sizeof(float)))
    throw Error{Code::kProtocol, "an echo of something else"};
  if (last) return step();
  if (!alone_ && index % 2 == 0) {
    // The sent piece stands for the average that the master gets.
    exchange::Average sums(2, pieces_[index].count);
    sums.put(0, std::move(own_[index / 2]), 1);
    sums.put(1, floats_of(echo), 1);
    echo = floats_to_blob(sums.result());
    send_(echo, false);
  }
  round_.pieces.push_back(std::move(echo));
  if (alone_ && round_.pieces.size() == pieces_.size()) step();
}

void SyncRehearsal::step() {
  ++round_.version;
  keeper_.take(round_);
  if (!apart_.empty()) replica_.set_parameters(apart_);
  replica_.set_statistics(keeper_.statistics());
}

}  // namespace dl::cluster
