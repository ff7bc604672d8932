// Histograms of a summary.

#include "libcore/plot/summary_event.h"

#include <algorithm>

#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

Spread spread_of(EventValue json) {
  constexpr std::size_t kMostParts = 1000;
  Spread spread{number(json, "norm"),
                number(json, "mean"),
                number(json, "low"),
                number(json, "high"),
                {}};
  const EventValue counts = json["counts"];
  if (!counts.is_array() || counts.size() > kMostParts) return spread;
  spread.counts.reserve(counts.size());
  for (EventValue one = counts.first(); one; one = one.next())
    spread.counts.push_back(one.is_number() ? one.number() : 0);
  return spread;
}

Bins bins_of(EventValue json) {
  constexpr std::size_t kMostBins = 1024;
  Bins all{number(json, "mean"),
           number(json, "rms"),
           number(json, "low"),
           number(json, "high"),
           {}};
  const EventValue bins = json["bins"];
  if (!bins.is_array() || bins.size() > kMostBins) return all;
  all.counts.reserve(bins.size());
  for (EventValue bin = bins.first(); bin; bin = bin.next()) {
    if (!bin.is_array() || bin.size() != 2) continue;
    const EventValue at = bin.first(), amount = at.next();
    if (at.is_integer() && at.number() >= -510 && at.number() <= 510 &&
        amount.number() >= 0)
      all.counts.emplace_back(static_cast<int>(at.number()), amount.number());
  }
  std::ranges::sort(all.counts);
  return all;
}

}  // namespace

std::optional<Summary> summary_of(EventValue event, double seconds) {
  constexpr std::size_t kMostOfNetwork = 10000;  // layers
  const EventValue layers = event["layers"];
  if (!layers.is_object() || layers.size() > kMostOfNetwork)
    return std::nullopt;
  Summary summary{seconds,
                  count(event, "epoch"),
                  number(event, "batches"),
                  number(event, "since"),
                  {}};
  for (EventValue layer = layers.first(); layer; layer = layer.next())
    summary.layers[layer.key()] = {
        spread_of(layer["parameters"]), spread_of(layer["change"]),
        number(layer, "learning_rate"), bins_of(layer["gradients"]),
        bins_of(layer["activations"])};
  return summary;
}

}  // namespace dl::plot
