// What a worker measures of itself when the master asks what more hosts would
// bring.

#include <algorithm>
#include <numeric>

#include "libcore/base/clock.h"
#include "libcore/cluster/worker/rehearsal.h"
#include "libcore/cluster/worker/slowest.h"
#include "libcore/cluster/worker/trainer.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

namespace {

// Mini-batches that do not count, while caches and thresholds settle.
constexpr std::int64_t kWarmUp = 5;

// Seconds: a share of a core is given in turns of up to a tenth of one, between
// which a host is as fast as the whole core.
constexpr double kLongEnough = 1, kLongRehearsal = 0.3;

// Of gradients, of which a whole one may be too far.
constexpr float kSmallStep = 1e-3F;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

// The value below which that part of them is.
double quantile(std::vector<double>& values, double part) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(
                           part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

// As an update goes out, and the master's answer is waited for.
void Trainer::exchange(const std::vector<std::byte>& load,
                       std::int64_t& under_way) {
  Probed echo;
  echo.load = load;
  mail_.outbox.push(echo.to_message());
  ++under_way;
  while (under_way >= settings_.sharing.in_flight) await_echo(under_way);
}

void Trainer::await_echo(std::int64_t& under_way) {
  const auto delivered = mail_.inbox.pop(true);
  if (!delivered && !mail_.leaving) return;
  if (!delivered || delivered->message.type != MessageType::kProbe)
    throw OutOfStep{"a measurement that broke off"};
  --under_way;
}

void Trainer::probe(const Probe& probe) {
  Probed answer;
  if (probe.batches == 0) {
    if (!probe.answer) return;
    answer.load = probe.load;
    return mail_.outbox.push(answer.to_message());
  }
  Replica& replica = learner_->replica();
  replica.network().initialise();  // the master sends no parameters for this
  const std::int64_t batches = loader_->batches(false, {});
  SharingSettings sharing = settings_.sharing;
  sharing.warmup = 0;  // what an update takes once it is over
  const bool gradients =
      settings_.mode == Mode::kSync || sharing.share == Share::kGradient;
  SharingRehearsal codec(replica, sharing, gradients ? kSmallStep : 1);
  std::vector<double> compute;
  std::span<const float> update;
  std::int64_t queued = 0, under_way = 0;
  double counted = 0;  // seconds, of mini-batches that count
  // Trained on, as updates of parameters that stand still are all alike.  All
  // time counts: a host that has spent its share of a core pauses anywhere.
  double since = monotonic_seconds(), begin = since;
  for (std::int64_t i = 0; i < kWarmUp + probe.batches || counted < kLongEnough;
       ++i) {
    // The next one is read while one is computed, as in training.
    for (; queued < i + 2; ++queued)
      loader_->add({false, 0, queued % batches, 1});
    const double before = codec.begin();
    const LoadedBatch& batch = loader_->next();
    replica.compute(replica.network().batch_of(batch.set),
                    {i, 0, static_cast<std::uint64_t>(i)});
    if (!codec.on_device()) update = replica.update();
    const double seconds = monotonic_seconds() - since - before;
    codec.run(update);
    if (!probe.load.empty()) exchange(probe.load, under_way);
    since = monotonic_seconds();
    ++mail_.progress;
    if (i + 1 == kWarmUp) begin = since;
    if (i < kWarmUp) continue;
    compute.push_back(seconds);
    counted += seconds;
  }
  answer.whole = (since - begin) / static_cast<double>(compute.size());
  loader_->drop();
  // Nothing of this one may be taken for an answer to the next.
  while (under_way > 0) await_echo(under_way);
  codec.encode.erase(codec.encode.begin(), codec.encode.begin() + kWarmUp);
  codec.decode.erase(codec.decode.begin(), codec.decode.begin() + kWarmUp);
  answer.slowest = slowest_of(compute);
  answer.slowest_round =
      slowest_round_of(compute, settings_.averaging.frequency);
  answer.compute = mean(compute);
  answer.compute_from = quantile(compute, 0.1);
  answer.compute_to = quantile(compute, 0.9);
  answer.encode = mean(codec.encode);
  answer.decode = mean(codec.decode);
  answer.update_bytes = static_cast<std::int64_t>(codec.bytes());
  const RoundRehearsed round =
      rehearse_round(replica, settings_.averaging, kLongRehearsal);
  answer.round = round.seconds;
  answer.delta_bytes = round.bytes;
  answer.step = rehearse_step(
      replica, nn::parse_network(dump_json(known_[0]), "the network"),
      options_.threads, kLongRehearsal);
  mail_.outbox.push(answer.to_message());
}

}  // namespace dl::cluster
