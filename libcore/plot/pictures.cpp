// SVG files.

#include "libcore/plot/pictures.h"

#include "libcore/base/number_format.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/page.h"

namespace dl::plot {
namespace {

constexpr double kTitleHeight = 52, kGapBelow = 24, kSide = 12;

std::string whole(double value) { return format("%.0f", value); }

// Names of lines, each after a square of its color.
std::string legend_of(const Chart& chart, double y) {
  if (chart.lines.size() < 2) return {};
  std::string out;
  double x = kSide + 8;
  for (const Line& line : chart.lines) {
    if (x > kChartWidth - 80) break;
    out += "<g class=\"line c" + std::to_string(line.color % 8) +
           "\"><circle r=\"4\" cx=\"" + whole(x) + "\" cy=\"" + whole(y - 4) +
           "\"/></g><text x=\"" + whole(x + 9) + "\" y=\"" + whole(y) + "\">" +
           escaped(line.name, 30) + "</text>";
    x += 32 +
         6.5 * static_cast<double>(std::min<std::size_t>(30, line.name.size()));
  }
  return out;
}

}  // namespace

std::string to_picture(const std::vector<Chart>& charts) {
  const double row = kTitleHeight + kChartHeight + kGapBelow;
  const std::string width = whole(kChartWidth + 2 * kSide);
  const std::string height = whole(row * static_cast<double>(charts.size()));
  std::string out =
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"" +
      width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " +
      height + "\">\n<style>\n";
  out += chart_style();
  out +=
      "</style>\n<rect width=\"100%\" height=\"100%\" "
      "style=\"fill: var(--ground)\"/>\n";
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const double top = row * static_cast<double>(i);
    const Chart& chart = charts[i];
    out += "<text class=\"title\" x=\"" + whole(kSide) + "\" y=\"" +
           whole(top + 24) + "\">" + escaped(chart.title, 90) +
           (chart.y_label.empty() ? "" : ", " + escaped(chart.y_label, 60)) +
           "</text>" + legend_of(chart, top + 44) + "\n<svg x=\"" +
           whole(kSide) + "\" y=\"" + whole(top + kTitleHeight) +
           "\" width=\"" + whole(kChartWidth) + "\" height=\"" +
           whole(kChartHeight) + "\">" + to_svg(chart) + "</svg>\n";
  }
  return out + "</svg>\n";
}

}  // namespace dl::plot
