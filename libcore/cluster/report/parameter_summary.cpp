// Norms and histograms.

#include "libcore/cluster/report/parameter_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/nn/layout.h"

namespace dl::cluster {

Spread Spread::of(std::span<const float> values) {
  Spread spread;
  if (values.empty()) return spread;
  double sum = 0, squares = 0;
  float low = values[0], high = values[0];
  for (const float x : values) {
    sum += x;
    squares += static_cast<double>(x) * x;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  spread.norm = std::sqrt(squares);
  spread.mean = sum / static_cast<double>(values.size());
  spread.low = low;
  spread.high = high;
  spread.counts.resize(kBins);
  const float scale = high > low ? static_cast<float>(kBins) / (high - low) : 0;
  for (const float x : values)
    ++spread.counts[std::min(kBins - 1,
                             static_cast<std::size_t>((x - low) * scale))];
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
  change_.resize(before_.size());
  for (std::size_t i = 0; i < before_.size(); ++i)
    change_[i] = state.parameters[i] - before_[i];
  Json event = {{"epoch", state.epoch},
                {"batches", batches},
                {"since", last_},
                {"layers", layers_of(state, batches)}};
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
  const std::span<const float> all = state.parameters, moved = change_;
  for (const Layer& layer : layers_) {
    const std::size_t size = layer.end - layer.begin;
    layers[layer.name] = {
        {"parameters", Spread::of(all.subspan(layer.begin, size)).to_json()},
        {"change", Spread::of(moved.subspan(layer.begin, size)).to_json()},
        {"learning_rate",
         state.step_factor * layer.rate.at(iteration, state.epoch)}};
  }
  return layers;
}

}  // namespace dl::cluster
