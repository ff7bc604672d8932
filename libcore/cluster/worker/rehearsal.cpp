#include "libcore/cluster/worker/rehearsal.h"

#include <iterator>
#include <optional>
#include <utility>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/protocol/message_sync.h"
#include "libcore/cluster/worker/slot_keeper.h"
#include "libcore/cluster/worker/sync_keeper.h"
#include "libcore/exchange/average.h"
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

double rehearse_step(Replica& replica, const nn::NetworkConfig& network,
                     int threads, double seconds) {
  State state = state_of(replica);
  state.updater_state.resize(
      nn::HostUpdater(network, threads).state_elements());
  std::vector<float> apart;
  std::span<float> parameters = replica.parameters_in_place();
  if (parameters.empty()) parameters = apart = replica.parameters();
  SyncKeeper keeper(network, threads, parameters);
  keeper.take(std::move(state));
  std::uint64_t version = 0;
  return mean_seconds(seconds, [&] {
    Part part;
    const std::span<const float> update = replica.update();
    part.values.assign(update.begin(), update.end());
    const std::vector<float> statistics = replica.statistics();
    part.values.insert(part.values.end(), statistics.begin(), statistics.end());
    Message message = part.to_message();
    // As one of two, it averages half of what both found.
    const std::vector<float> values = std::move(part.values);
    const auto half = values.begin() + std::ssize(values) / 2;
    const auto count = static_cast<std::size_t>(half - values.begin());
    exchange::Average sums(2, count);
    sums.put(0, {values.begin(), half}, 1);
    sums.put(1, {values.begin(), half}, 1);
    Mean mean;
    mean.values = sums.result();
    static_cast<void>(mean.to_message());
    Round round;
    round.version = ++version;
    round.held = true;
    round.pieces = std::move(message.blobs);
    keeper.take(round);
    if (!apart.empty()) replica.set_parameters(apart);
  });
}

}  // namespace dl::cluster
