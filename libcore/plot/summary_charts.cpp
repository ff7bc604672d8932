// Lines by layer.

#include "libcore/plot/summary_charts.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostLayers = 8;  // colors of a chart
constexpr std::size_t kMostSpreads = 24;
constexpr std::size_t kPointsOfSpread = 80;  // there are many of them

using Value = std::function<double(const Summary&, const LayerSummary&)>;

// Layers in the order of the network, as run.json has it; others after them.
std::vector<std::string> layers_of(const Run& run) {
  const auto& there = run.history().summaries.back().layers;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (there.contains(name) && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  };
  const Json layers = part(part(run.configuration(), "network"), "layers");
  if (layers.is_array())
    for (const Json& layer : layers) add(text(layer, "name"));
  for (const auto& [name, layer] : there) add(name);
  return names;
}

std::string lower(std::string word) {
  word[0] = static_cast<char>(word[0] - 'A' + 'a');
  return word;
}

// Layers that have numbers: of nodes without parameters there are none of some
// kinds.
std::vector<std::string> layers_with(const Run& run, const Value& value) {
  std::vector<std::string> names = layers_of(run);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(run.history().summaries,
                                [&](const Summary& one) {
                                  const auto at = one.layers.find(name);
                                  return at != one.layers.end() &&
                                         std::isfinite(value(one, at->second));
                                });
  });
  return names;
}

// The first, the last, and others at equal distances.
std::vector<std::string> some_of(const std::vector<std::string>& names) {
  if (names.size() <= kMostLayers) return names;
  std::vector<std::string> some;
  some.reserve(kMostLayers);
  for (std::size_t i = 0; i < kMostLayers; ++i)
    some.push_back(names[i * (names.size() - 1) / (kMostLayers - 1)]);
  return some;
}

Curve curve_of(const History& history, const std::string& layer,
               const Value& value, std::size_t most = 300) {
  std::vector<double> x, y;
  for (const Summary& one : history.summaries) {
    const auto at = one.layers.find(layer);
    if (at == one.layers.end()) continue;
    x.push_back(one.batches);
    y.push_back(value(one, at->second));
  }
  return thinned(x, y, most);
}

Chart by_layer(const Run& run, Chart chart, const Value& value) {
  const auto names = layers_with(run, value), some = some_of(names);
  if (some.size() < names.size())
    chart.note = std::to_string(some.size()) + " of " +
                 std::to_string(names.size()) + " layers; --data has all.";
  for (std::size_t i = 0; i < some.size(); ++i) {
    Curve curve = curve_of(run.history(), some[i], value);
    curve.low.clear();  // bands hide each other
    curve.high.clear();
    if (!curve.x.empty()) chart.lines.push_back({some[i], std::move(curve), i});
  }
  return chart;
}

// Medians in the band from the first to the third quartile, and all but the
// twentieths.
template <typename Spreads>
Chart spread_chart(const Run& run, const std::string& layer, std::size_t i,
                   const std::string& what, Spreads LayerSummary::*spread) {
  Chart chart{.id = lower(what) + "-" + std::to_string(i),
              .title = what + " of " + layer,
              .x_label = "Mini-batches",
              .y_label = "values"};
  const auto quantile = [&](double share) {
    return curve_of(
        run.history(), layer,
        [&, share](const Summary&, const LayerSummary& one) {
          return (one.*spread).quantile(share);
        },
        kPointsOfSpread);
  };
  const Curve median = quantile(0.5);
  const auto add = [&](const char* name, double from, double to,
                       Line::Style style) {
    Curve band = median;
    band.low = quantile(from).y;
    band.high = quantile(to).y;
    chart.lines.push_back({name, std::move(band), 0, style});
  };
  if (median.x.empty()) return chart;
  add("5 to 95 %", 0.05, 0.95, Line::Style::kFaint);
  add("median, 25 to 75 %", 0.25, 0.75, Line::Style::kLine);
  return chart;
}

}  // namespace

std::vector<Chart> summary_charts(const Run& run) {
  if (run.history().summaries.empty()) return {};
  std::vector<Chart> charts;
  charts.push_back(
      by_layer(run,
               {.id = "ratio",
                .title = "Change of a mini-batch",
                .x_label = "Mini-batches",
                .y_label = "log10 of its norm over that of the parameters"},
               [](const Summary& at, const LayerSummary& one) {
                 return std::log10(one.change.norm / (at.batches - at.since) /
                                   one.parameters.norm);
               }));
  charts.push_back(by_layer(run,
                            {.id = "norms",
                             .title = "Norm of the parameters",
                             .x_label = "Mini-batches",
                             .y_label = "by layer"},
                            [](const Summary&, const LayerSummary& one) {
                              return one.parameters.norm;
                            }));
  charts.push_back(by_layer(run,
                            {.id = "rates",
                             .title = "Learning rate",
                             .x_label = "Mini-batches",
                             .y_label = "by layer"},
                            [](const Summary&, const LayerSummary& one) {
                              return one.learning_rate;
                            }));
  auto& rates = charts.back().lines;
  if (std::ranges::all_of(
          rates,
          [&](const Line& line) { return line.curve.y == rates[0].curve.y; }) &&
      rates.size() > 1) {
    rates.resize(1);
    rates[0].name = "all layers";
    charts.back().y_label = "";
  }
  charts.push_back(by_layer(
      run,
      {.id = "gradient-sizes",
       .title = "Size of the gradients",
       .x_label = "Mini-batches",
       .y_label = "log10 of the root mean square, by layer"},
      [](const Summary&, const LayerSummary& one) {
        return one.gradients.empty() ? kNone : std::log10(one.gradients.rms);
      }));
  charts.push_back(by_layer(run,
                            {.id = "activation-sizes",
                             .title = "Size of the activations",
                             .x_label = "Mini-batches",
                             .y_label = "root mean square, by layer"},
                            [](const Summary&, const LayerSummary& one) {
                              return one.activations.empty()
                                         ? kNone
                                         : one.activations.rms;
                            }));
  charts.push_back(by_layer(run,
                            {.id = "zeros",
                             .title = "Activations that are zero",
                             .x_label = "Mini-batches",
                             .y_label = "share, by layer"},
                            [](const Summary&, const LayerSummary& one) {
                              return one.activations.empty()
                                         ? kNone
                                         : one.activations.share_of_zeros();
                            }));
  charts.back().y_low = 0;
  const auto add_spreads = [&](const std::string& what, auto spread,
                               std::size_t most) {
    const auto all =
        layers_with(run, [&](const Summary&, const LayerSummary& one) {
          return (one.*spread).counts.empty() ? kNone : 0.0;
        });
    const auto names = most == kMostLayers ? some_of(all) : all;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
      charts.push_back(spread_chart(run, names[i], i, what, spread));
  };
  add_spreads("Parameters", &LayerSummary::parameters, kMostSpreads);
  add_spreads("Gradients", &LayerSummary::gradients, kMostLayers);
  add_spreads("Activations", &LayerSummary::activations, kMostLayers);
  return charts;
}

}  // namespace dl::plot
