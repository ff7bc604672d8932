// Measures a worker when the master asks what more hosts would
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
constexpr double kQuickEnough = 0.1;

// Step along gradients, of which a whole one may be too far.
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

void Trainer::send_load(std::vector<std::byte> load, bool answer) {
  Probed probed;
  probed.load = std::move(load);
  probed.answer = answer;
  mail_.outbox.push(probed.to_message());
}

std::vector<std::byte> Trainer::await_echo() {
  auto delivered = mail_.inbox.pop(true);
  while (!delivered && !mail_.leaving) delivered = mail_.inbox.pop(true);
  if (!delivered || delivered->message.type != MessageType::kProbe)
    throw OutOfStep{"a measurement that broke off"};
  return Probe::from_message(delivered->message).load;
}

// Calls mini_batch(index) again and again, which takes the next one from the
// loader, and returns seconds: these are to be enough.
void Trainer::repeat(const Probe& probe,
                     const std::function<double(std::int64_t)>& mini_batch) {
  const std::int64_t batches = loader_->batches(false, {});
  std::int64_t queued = 0;
  double counted = 0;  // seconds, of mini-batches that count
  const double enough = probe.quick ? kQuickEnough : kLongEnough;
  for (std::int64_t i = 0; i < kWarmUp + probe.batches || counted < enough;
       ++i) {
    if (mail_.leaving) throw OutOfStep{"a measurement that broke off"};
    // The next one is read while one is computed, as in training.
    for (; queued < i + 2; ++queued)
      loader_->add({false, 0, queued % batches, 1});
    const double seconds = mini_batch(i);
    ++mail_.progress;
    if (i >= kWarmUp) counted += seconds;
  }
  loader_->drop();
}

void Trainer::probe(const Probe& probe) {
  if (probe.batches == 0) {
    if (probe.answer) send_load(probe.load, true);
    return;
  }
  learner_->replica().network().initialise();  // the master sends no parameters
  if (probe.hosts == 0)
    probe_sharing(probe);
  else
    probe_sync(probe);
}

// And what is beside computing in sharing and in averaging.
void Trainer::probe_sharing(const Probe& probe) {
  Replica& replica = learner_->replica();
  SharingSettings sharing = settings_.sharing;
  sharing.warmup = 0;  // what an update takes once it is over
  const bool gradients =
      settings_.mode == Mode::kSync || sharing.share == Share::kGradient;
  SharingRehearsal codec(replica, sharing, gradients ? kSmallStep : 1);
  std::vector<double> compute;
  std::span<const float> update;
  std::int64_t under_way = 0;
  // Trained on, as updates of parameters that stand still are all alike.  All
  // time counts: a host that has spent its share of a core pauses anywhere.
  double since = monotonic_seconds(), begin = since;
  repeat(probe, [&](std::int64_t i) {
    const double before = codec.begin();
    const LoadedBatch& batch = loader_->next();
    replica.compute(replica.network().batch_of(batch.set),
                    {i, 0, static_cast<std::uint64_t>(i)});
    if (!codec.on_device()) update = replica.update();
    const double seconds = monotonic_seconds() - since - before;
    codec.run(update);
    // As an update goes out, and the master's answer is waited for.
    if (!probe.load.empty()) {
      send_load(probe.load, true);
      for (++under_way; under_way >= settings_.sharing.in_flight; --under_way)
        await_echo();
    }
    since = monotonic_seconds();
    if (i + 1 == kWarmUp) begin = since;
    if (i >= kWarmUp) compute.push_back(seconds);
    return seconds;
  });
  Probed answer;
  answer.whole = (since - begin) / static_cast<double>(compute.size());
  // Nothing of this one may be taken for an answer to the next.
  for (; under_way > 0; --under_way) await_echo();
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
  if (!probe.quick) {
    const RoundRehearsed round =
        rehearse_round(replica, settings_.averaging, kLongRehearsal);
    answer.round = round.seconds;
    answer.delta_bytes = round.bytes;
  }
  mail_.outbox.push(answer.to_message());
}

void Trainer::probe_sync(const Probe& probe) {
  Replica& replica = learner_->replica();
  SyncRehearsal rehearsal(
      replica, nn::parse_network(dump_json(known_[0]), "the network"),
      options_.threads, probe.hosts == 1,
      [this](std::vector<std::byte> piece, bool answer) {
        send_load(std::move(piece), answer);
      });
  double since = monotonic_seconds(), begin = since;
  std::int64_t steps = 0;
  repeat(probe, [&](std::int64_t i) {
    const LoadedBatch& batch = loader_->next();
    std::size_t echoes =
        rehearsal.compute(replica.network().batch_of(batch.set),
                          {i, 0, static_cast<std::uint64_t>(i)});
    for (; echoes > 0; --echoes) rehearsal.take(await_echo());
    const double now = monotonic_seconds(), seconds = now - since;
    since = now;
    if (i + 1 == kWarmUp) begin = since;
    if (i >= kWarmUp) ++steps;
    return seconds;
  });
  Probed answer;
  answer.whole = (since - begin) / static_cast<double>(steps);
  mail_.outbox.push(answer.to_message());
}

}  // namespace dl::cluster
