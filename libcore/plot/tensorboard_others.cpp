// The events of models and evaluations.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "libcore/eval/scores.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"
#include "libcore/plot/filters.h"
#include "libcore/plot/report_charts.h"
#include "libcore/plot/tensorboard.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

Spread spread_of_weights(std::span<const float> values) {
  constexpr std::size_t kParts = 40;
  const auto [low, high] = std::ranges::minmax(values);
  Spread all{0, 0, low, high, std::vector<double>(kParts)};
  const double width = (all.high - all.low) / kParts;
  double sum = 0, squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
    const double part = width > 0 ? (value - all.low) / width : 0;
    ++all.counts[std::min(kParts - 1, static_cast<std::size_t>(part))];
  }
  all.mean = sum / static_cast<double>(values.size());
  all.norm = std::sqrt(squares);
  return all;
}

// Counts at thresholds 0, 1/n, ... 1.
std::vector<std::array<double, 4>> counts_at_thresholds(
    const eval::Scores& scores) {
  constexpr std::size_t kThresholds = 201;
  std::vector<std::array<double, 4>> counts;
  for (std::size_t k = 0; k < kThresholds; ++k) {
    const auto [yes, wrong] =
        scores.reaching(static_cast<double>(k) / (kThresholds - 1));
    counts.push_back({static_cast<double>(yes), static_cast<double>(wrong),
                      static_cast<double>(scores.negatives() - wrong),
                      static_cast<double>(scores.positives() - yes)});
  }
  return counts;
}

}  // namespace

std::string model_events(const std::string& path, const Log& log) {
  const nn::Model model = nn::open_model(path, log);
  EventRecords records(0);
  records.version();
  records.graph(model.config);
  for (const nn::Segment& segment : nn::layout_of(model.config).parameters) {
    const auto values =
        model.weights().subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements()));
    if (!values.empty())
      records.histogram("parameters/" + segment.name, 0, 0,
                        spread_of_weights(values));
  }
  if (const auto picture = filters_of(model))
    records.image("filters/" + picture->name, 0, 0, *picture);
  return records.take();
}

std::string report_events(const Json& report) {
  EventRecords records(0);
  records.version();
  for (const Json& evaluation : report.at("evaluations")) {
    const std::string output = text(evaluation, "output");
    const std::string kind =
        (output.empty() ? "" : output + ":") + text(evaluation, "kind");
    const Json& metrics = evaluation.at("metrics");
    for (const auto& [name, value] : metrics.items())
      if (value.is_number())
        records.scalar(kind + "/" + name, 0, 0, value.get<double>());
    if (text(evaluation, "kind") != "roc") continue;
    const Json& outputs = evaluation.at("state").at("outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      eval::Scores scores(count(evaluation.at("settings"), "steps"));
      scores.read(JsonView(outputs[i], Code::kData));
      if (scores.positives() > 0)
        records.pr_curve(kind + "/" + output_name(evaluation, i), 0, 0,
                         counts_at_thresholds(scores));
    }
  }
  return records.take();
}

}  // namespace dl::plot
