#include "libcore/plot/embedding/embedding_section.h"

#include <algorithm>
#include <cmath>

#include "libcore/eval/text.h"
#include "libcore/plot/csv_field.h"
#include "libcore/plot/embedding/tsne.h"
#include "libcore/plot/filters.h"
#include "libcore/plot/markup.h"

namespace dl::plot {
namespace {

constexpr std::int64_t kMostMaps = 64, kWidestMap = 48;
constexpr std::size_t kMostUnits = 128, kMostLayersShown = 40;

// Channels of [height, width, channels] side by side, every n-th pixel of wide
// ones.
std::string maps_of(const LayerValues& layer) {
  const std::int64_t height = layer.shape[0], width = layer.shape[1],
                     channels = layer.shape[2];
  const std::int64_t every = std::max<std::int64_t>(
      1, (std::max(height, width) + kWidestMap - 1) / kWidestMap);
  const std::int64_t shown = std::min(channels, kMostMaps);
  const std::int64_t high = (height + every - 1) / every;
  const std::int64_t wide = (width + every - 1) / every;
  std::vector<float> maps;
  for (std::int64_t c = 0; c < shown; ++c)
    for (std::int64_t y = 0; y < height; y += every)
      for (std::int64_t x = 0; x < width; x += every) {
        const auto at =
            static_cast<std::size_t>((y * width + x) * channels + c);
        maps.push_back(at < layer.values.size() ? layer.values[at] : 0);
      }
  const auto picture = draw_filters({shown, high, wide, 1}, maps);
  if (!picture) return {};
  return "<h3>" + escaped(layer.name, 80) + "</h3><p class=\"note\">" +
         std::to_string(channels) + " maps of " + std::to_string(height) +
         " by " + std::to_string(width) +
         (shown < channels ? ", the first " + std::to_string(shown) : "") +
         "; each from its lowest value in black to its highest in white.</p>"
         "<div class=\"filters\">" +
         to_image(*picture, "maps") + "</div>\n";
}

Chart units_of(const LayerValues& layer, std::size_t index) {
  Chart chart{.id = "activation" + std::to_string(index),
              .title = layer.name,
              .x_label = "Unit",
              .y_label = "value"};
  Curve curve;
  const std::size_t n = std::min(kMostUnits, layer.values.size());
  for (std::size_t i = 0; i < n; ++i) {
    curve.x.push_back(static_cast<double>(i));
    curve.y.push_back(layer.values[i]);
  }
  chart.x_low = -0.5;
  chart.x_high = static_cast<double>(n) - 0.5;
  if (n < layer.values.size())
    chart.note = "The first " + std::to_string(n) + " of " +
                 grouped(static_cast<double>(layer.values.size())) + ".";
  chart.lines.push_back({"value", curve, 0, Line::Style::kBars});
  return chart;
}

Chart places_of_examples(const std::string& id, const std::string& title,
                         const std::string& x, const std::string& y,
                         const SeenExamples& seen,
                         const std::vector<Place>& places) {
  Chart chart{.id = id, .title = title, .x_label = x, .y_label = y};
  for (std::size_t g = 0; g < seen.names.size(); ++g) {
    std::vector<Place> own;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (seen.groups[i] == g) own.push_back(places[i]);
    std::ranges::sort(own);
    Curve curve;
    for (const Place& place : own) {
      curve.x.push_back(place[0]);
      curve.y.push_back(place[1]);
    }
    chart.lines.push_back({seen.names[g], curve, g, Line::Style::kPoints});
  }
  return chart;
}

std::string percent(double share) {
  return readable_number(std::round(1000 * share) / 10) + " %";
}

}  // namespace

Embedding embed(const SeenExamples& seen) {
  Embedding embedding{principal_components(seen.points), {}};
  embedding.tsne = tsne(seen.points, embedding.pca);
  return embedding;
}

void add_examples(Page& page, const SeenExamples& seen,
                  const Embedding& embedding) {
  page.section("examples", "Examples");
  page.note((seen.cut ? "The first " : "") +
            grouped(static_cast<double>(seen.points.count)) +
            " examples, by the values of layer '" + seen.layer + "'.");
  page.charts({places_of_examples("tsne", "Neighbors (t-SNE)", "Places", "",
                                  seen, embedding.tsne),
               places_of_examples("pca", "Principal components",
                                  "First component, " +
                                      percent(embedding.pca.shares[0]) +
                                      " of the variance",
                                  "second, " + percent(embedding.pca.shares[1]),
                                  seen, embedding.pca.places)});
  page.section("activations", "Activations of the first example");
  std::vector<Chart> charts;
  for (std::size_t i = 0; i < std::min(kMostLayersShown, seen.first.size());
       ++i) {
    const LayerValues& layer = seen.first[i];
    if (layer.shape.rank() == 3 && layer.shape[0] > 1 && layer.shape[1] > 1)
      page.html(maps_of(layer));
    else
      charts.push_back(units_of(layer, i));
  }
  if (!charts.empty()) page.charts(charts);
}

std::string embedding_data(const SeenExamples& seen,
                           const Embedding& embedding) {
  std::string text = "example,class,pca_x,pca_y,tsne_x,tsne_y\n";
  for (std::size_t i = 0; i < seen.points.count; ++i) {
    text += csv_field(seen.ids[i]) + "," + csv_field(seen.classes[i]);
    for (const Place& place : {embedding.pca.places[i], embedding.tsne[i]})
      for (const double one : place) text += "," + eval::shortest(one);
    text += "\n";
  }
  return text;
}

}  // namespace dl::plot
