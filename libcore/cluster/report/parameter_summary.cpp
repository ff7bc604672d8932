// Norms and histograms.

#include "libcore/cluster/report/parameter_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "libcore/cluster/protocol/moments.h"
#include "libcore/nn/layout.h"

namespace dl::cluster {

namespace {

// With an empty histogram.
Spread spread_with(const Moments& moments) {
  Spread spread;
  if (moments.count() == 0) return spread;
  spread.norm = std::sqrt(moments.squares());
  spread.mean = moments.sum() / static_cast<double>(moments.count());
  spread.low = moments.low();
  spread.high = moments.high();
  spread.counts.resize(Spread::kBins);
  return spread;
}

// value: of a place, of `size`.
template <typename Value>
void count_values(Spread& spread, std::size_t size, const Value& value) {
  if (size == 0) return;
  const auto low = static_cast<float>(spread.low);
  const auto high = static_cast<float>(spread.high);
  constexpr auto kParts = static_cast<float>(Spread::kBins);
  const float scale = high > low ? kParts / (high - low) : 0;
  const std::size_t stride = (size + Spread::kMost - 1) / Spread::kMost;
  std::array<float, Spread::kMost> part;
  std::size_t n = 0;
  for (std::size_t i = 0; i < size; i += stride)
    part[n++] = (value(i) - low) * scale;
  // Two tables: neighbors in a part do not wait for each other.
  std::array<std::array<std::uint16_t, Spread::kBins + 1>, 2> counts{};
  for (std::size_t i = 0; i < n; ++i)
    ++counts[i % 2]
            [part[i] > 0 && part[i] <= kParts
                 ? static_cast<std::size_t>(static_cast<std::int32_t>(part[i]))
                 : 0];
  for (std::size_t i = 0; i <= Spread::kBins; ++i)
    spread.counts[std::min(i, Spread::kBins - 1)] +=
        counts[0][i] + counts[1][i];
}

// The change from one vector to the other.
Spread spread_of_change(std::span<const float> before,
                        std::span<const float> now) {
  constexpr std::size_t kBlock = 1024;
  Moments moments;
  std::array<float, kBlock> block;
  for (std::size_t at = 0; at < now.size(); at += kBlock) {
    const std::size_t n = std::min(kBlock, now.size() - at);
    for (std::size_t i = 0; i < n; ++i) block[i] = now[at + i] - before[at + i];
    moments.add(std::span(block).first(n));
  }
  Spread spread = spread_with(moments);
  count_values(spread, now.size(),
               [&](std::size_t i) { return now[i] - before[i]; });
  return spread;
}

}  // namespace

Spread Spread::of(std::span<const float> values) {
  Moments moments;
  moments.add(values);
  Spread spread = spread_with(moments);
  count_values(spread, values.size(), [&](std::size_t i) { return values[i]; });
  return spread;
}

Json Spread::to_json() const {
  return {{"norm", norm},
          {"mean", mean},
          {"low", low},
          {"high", high},
          {"counts", counts}};
}

ParameterSummary::ParameterSummary(const nn::NetworkConfig& network,
                                   std::int64_t batches_per_epoch,
                                   std::int64_t batch, std::int64_t every)
    : batches_per_epoch_(batches_per_epoch), batch_(batch), every_(every) {
  for (const nn::LayerConfig& layer : network.layers) names_.insert(layer.name);
  const nn::Layout layout = nn::layout_of(network);
  auto range = layout.state.begin();
  for (const nn::Segment& segment : layout.parameters) {
    const std::string name = segment.name.substr(0, segment.name.rfind('/'));
    if (layers_.empty() || layers_.back().name != name) {
      while (range != layout.state.end() && segment.offset >= range->end)
        ++range;
      layers_.push_back({name, static_cast<std::size_t>(segment.offset), 0,
                         range == layout.state.end()
                             ? nn::Schedule()
                             : range->updater.learning_rate});
    }
    layers_.back().end =
        static_cast<std::size_t>(segment.offset + segment.elements());
  }
}

void ParameterSummary::take(const Spreads& spreads) {
  for (const auto& [name, layer] : spreads.layers) {
    if (!names_.contains(name)) continue;
    counts_[name].gradients.add(layer.gradients);
    counts_[name].activations.add(layer.activations);
  }
}

std::optional<Json> ParameterSummary::look(const RunState& state) {
  const std::int64_t batches =
      state.epoch * batches_per_epoch_ + (state.examples + batch_ - 1) / batch_;
  // A rollback is no training.
  if (state.version < version_ || batches < last_ ||
      before_.size() != state.parameters.size())
    before_.clear();
  version_ = state.version;
  if (before_.empty()) {
    before_ = state.parameters;
    last_ = batches;
    return std::nullopt;
  }
  if (batches < last_ + every_) return std::nullopt;
  Json event = {{"epoch", state.epoch},
                {"batches", batches},
                {"since", last_},
                {"layers", layers_of(state, batches)}};
  for (const auto& [name, layer] : std::exchange(counts_, {})) {
    Json& one = event["layers"][name];
    if (!layer.gradients.empty()) one["gradients"] = layer.gradients.to_json();
    if (!layer.activations.empty())
      one["activations"] = layer.activations.to_json();
  }
  before_ = state.parameters;
  last_ = batches;
  if (++count_ % kDoubleAfter == 0) every_ *= 2;
  return event;
}

void ParameterSummary::write_if_due(const RunState& state, EventLog& events) {
  if (auto event = look(state)) events.write("summary", std::move(*event));
}

Json ParameterSummary::layers_of(const RunState& state,
                                 std::int64_t batches) const {
  Json layers = Json::object();
  const std::int64_t iteration =
      state.iteration > 0 ? state.iteration : batches;
  const std::span<const float> all = state.parameters, before = before_;
  for (const Layer& layer : layers_) {
    const std::size_t size = layer.end - layer.begin;
    layers[layer.name] = {
        {"parameters", Spread::of(all.subspan(layer.begin, size)).to_json()},
        {"change", spread_of_change(before.subspan(layer.begin, size),
                                    all.subspan(layer.begin, size))
                       .to_json()},
        {"learning_rate",
         state.step_factor * layer.rate.at(iteration, state.epoch)}};
  }
  return layers;
}

}  // namespace dl::cluster
