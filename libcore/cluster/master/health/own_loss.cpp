#include "libcore/cluster/master/health/own_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/base/error.h"
#include "libcore/cluster/loading/batches.h"
#include "libcore/device/open.h"
#include "libcore/nn/network.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kSampled = 16, kFewSampled = 3;  // mini-batches
constexpr std::int64_t kCompared = 1024;                // examples
constexpr std::int64_t kMostInBatch = 64;               // examples
constexpr double kOwnSeconds = 2, kOtherSeconds = 0.1;
constexpr std::size_t kSampleCache = std::size_t{64} << 20;

void put(nn::Network& network, tensor::View to, std::span<const float> values) {
  if (!values.empty())
    std::ranges::copy(values, network.device().on_host(to).begin());
}

double loss_of(nn::Network& network, const nn::Batch& batch,
               std::uint64_t number) {
  double loss = 0;
  nn::Position at;
  at.batch = number;
  for (std::int64_t s = 0; s < network.segments(); ++s)
    loss += network.compute_gradient(batch, at, s);
  return loss;
}

std::optional<OwnLoss> summary(std::span<const double> losses) {
  if (std::ssize(losses) < kFewSampled) return std::nullopt;
  const auto count = static_cast<double>(losses.size());
  OwnLoss own;
  for (const double loss : losses) own.loss += loss / count;
  double squares = 0;
  for (const double loss : losses)
    squares += (loss - own.loss) * (loss - own.loss);
  own.deviation = std::sqrt(squares / (count - 1));
  own.error = own.deviation / std::sqrt(count);
  if (std::isfinite(own.loss)) return own;
  return OwnLoss{std::numeric_limits<double>::infinity()};
}

// Parameters and statistics whose loss is wanted, and how long that may take,
// in seconds; some mini-batches are looked at in any case.
struct Measured {
  std::span<const float> parameters, statistics;
  double seconds;
  std::int64_t examples = 0;                       // at the least
  CheckRecord seen = [](const data::DataSet&) {};  // told of each mini-batch
};

// Throws Error: kData, kNoInput, kIo, a record cannot be read.
std::optional<OwnLoss> measure(const RunConfig& plan, const RunState& state,
                               const Measured& of) {
  const double began = monotonic_seconds();
  const std::int64_t size = std::min(plan.settings.batch, kMostInBatch);
  data::Epoch epoch(plan.training->catalogue().without(state.without()), size,
                    plan.settings.seed, static_cast<std::uint64_t>(state.epoch),
                    true);
  // The files are open already: a root that is none keeps it from them.
  RecordStore store(
      plan.training->shards(), "",
      [&](std::uint32_t shard, std::uint32_t record) {
        return plan.training->record(shard, record);
      },
      kSampleCache, [](Level, const std::string&) {},
      check_for(plan.model.config, plan.model.normalizers.inputs));
  nn::Network network(plan.model.config, plan.model.normalizers, size,
                      device::open_lanes("cpu", 1), true, {},
                      nn::Start::kLater);
  put(network, network.parameters(), of.parameters);
  put(network, network.statistics(), of.statistics);
  std::vector<double> losses;
  LoadedBatch batch;
  const std::int64_t count =
      std::min(std::max(kSampled, of.examples / size), epoch.batches());
  for (std::int64_t i = 0; i < count; ++i) {
    assemble(epoch, i * epoch.batches() / count, store, batch);
    losses.push_back(loss_of(network, network.batch_of(batch.set),
                             static_cast<std::uint64_t>(i)));
    of.seen(batch.set);
    if (monotonic_seconds() - began > of.seconds &&
        std::ssize(losses) >= kFewSampled)
      break;
  }
  return summary(losses);
}

}  // namespace

std::optional<bool> beats_constant(const RunConfig& plan,
                                   const RunState& state) try {
  std::optional<OwnLoss> own;
  const auto constant = nn::best_constant(
      plan.model.config, plan.training->metadata(), plan.model.normalizers,
      [&](const auto& take) {
        own = measure(
            plan, state,
            {state.parameters, state.statistics, kOwnSeconds, kCompared, take});
      });
  if (!own || !constant) return std::nullopt;
  return own->loss < constant->loss;
} catch (const Error&) {
  return std::nullopt;
}

void measure_losses(const RunConfig& plan, RunContext& context) {
  const auto look = [&plan, &context](const Measured& of) {
    std::optional<OwnLoss> loss;
    try {
      loss = measure(plan, context.state, of);
    } catch (const Error& error) {  // others tell
      context.log(
          Level::kDetail,
          std::string("the loss of parameters is not known: ") + error.what());
    }
    return loss;
  };
  context.own_loss = [look, &state = context.state] {
    return look({state.parameters, state.statistics, kOwnSeconds});
  };
  context.loss_at_start = [look, &plan] {
    const RunState start = plan.start();
    return look({start.parameters, start.statistics, kOwnSeconds});
  };
  context.loss_of = [look](std::span<const float> parameters,
                           std::span<const float> statistics) {
    return look({parameters, statistics, kOtherSeconds});
  };
}

}  // namespace dl::cluster
