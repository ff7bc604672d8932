// Composition of a model's page.

#include "libcore/plot/model_page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"
#include "libcore/plot/diagram.h"
#include "libcore/plot/embedding/embedding_section.h"
#include "libcore/plot/filters.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/page.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostHistograms = 24, kBins = 40, kMostTensors = 500;

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
};

Moments moments_of(std::span<const float> values) {
  Moments all;
  if (values.empty()) return all;
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const float value : values) sum += value;
  all.mean = sum / n;
  for (const float value : values)
    squares += (value - all.mean) * (value - all.mean);
  all.deviation = std::sqrt(squares / n);
  const auto [low, high] = std::ranges::minmax(values);
  all.low = low;
  all.high = high;
  return all;
}

Chart histogram(const std::string& name, std::size_t index,
                std::span<const float> values, const Moments& moments) {
  Chart chart{.id = "weights" + std::to_string(index),
              .title = name,
              .x_label = "Value",
              .y_label = "count"};
  Curve curve;
  const double range = moments.high - moments.low;
  const double width = range > 0 ? range / kBins : 1;
  const std::size_t bins = range > 0 ? kBins : 1;
  for (std::size_t b = 0; b < bins; ++b) {
    curve.x.push_back(moments.low + (static_cast<double>(b) + 0.5) * width);
    curve.y.push_back(0);
  }
  for (const float value : values)
    ++curve.y[std::min(
        bins - 1, static_cast<std::size_t>((value - moments.low) / width))];
  chart.x_low = moments.low - (range > 0 ? 0 : 0.5);
  chart.x_high = moments.high + (range > 0 ? 0 : 0.5);
  chart.lines.push_back({name, curve, 0, Line::Style::kBars});
  return chart;
}

}  // namespace

std::string model_page(const std::string& path, const Look& look,
                       const Log& log, std::string* data) {
  const nn::Model model = nn::open_model(path, log);
  const nn::Layout layout = nn::layout_of(model.config);
  Page page(std::filesystem::path(path).filename().string());
  page.fact("Parameters", grouped(static_cast<double>(layout.parameter_count)));
  page.fact("Layers", grouped(static_cast<double>(model.config.layers.size())));
  page.section("network", "Network");
  add_diagram(page, model.config);
  std::vector<std::vector<std::string>> rows;
  std::vector<Chart> charts;
  for (const nn::Segment& segment : layout.parameters) {
    const auto values =
        model.weights().subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.elements()));
    const Moments moments = moments_of(values);
    std::string shape;
    for (const std::int64_t extent : segment.shape.extents())
      shape += (shape.empty() ? "" : " × ") + std::to_string(extent);
    if (rows.size() < kMostTensors)
      rows.push_back({segment.name, shape, readable_number(moments.mean),
                      readable_number(moments.deviation),
                      readable_number(moments.low),
                      readable_number(moments.high)});
    if (segment.shape.rank() < 2 || values.empty()) continue;
    if (charts.size() < kMostHistograms)
      charts.push_back(histogram(segment.name, charts.size(), values, moments));
  }
  page.section("weights", "Weights");
  if (const auto filters = filters_of(model))
    page.html("<h3>Filters of the first layer</h3><div class=\"filters\">" +
              to_image(*filters) + "</div>\n");
  if (!charts.empty()) page.charts(charts);
  page.table(
      {"Tensor", "Shape", "Mean", "Standard deviation", "Lowest", "Highest"},
      rows, "Tensors", charts.size() > 1);
  if (look.examples.empty()) return page.to_html();
  const SeenExamples seen = see_examples(model, look, log);
  const Embedding embedding = embed(seen);
  add_examples(page, seen, embedding);
  if (data != nullptr) *data = embedding_data(seen, embedding);
  return page.to_html();
}

}  // namespace dl::plot
