// SVG files.

#include "libcore/plot/pictures.h"

#include <utility>

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
    out += "<g class=\"line c" + std::to_string(line.color % kColors) +
           "\"><circle r=\"4\" cx=\"" + whole(x) + "\" cy=\"" + whole(y - 4) +
           "\"/></g><text x=\"" + whole(x + 9) + "\" y=\"" + whole(y) + "\">" +
           escaped(line.name, 30) + "</text>";
    x += 32 +
         6.5 * static_cast<double>(std::min<std::size_t>(30, line.name.size()));
  }
  return out;
}

void replace_all(std::string& text, const std::string& from,
                 const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

// {"--c0", "#2563b0"}, ... of the first block.
std::vector<std::pair<std::string, std::string>> light_colors(
    std::string_view style) {
  std::vector<std::pair<std::string, std::string>> colors;
  const std::string_view block = style.substr(0, style.find('}'));
  for (std::size_t at = block.find("--"); at != std::string_view::npos;
       at = block.find("--", at + 2)) {
    const std::size_t colon = block.find(':', at);
    const std::size_t end = block.find(';', at);
    if (end == std::string_view::npos) break;
    colors.emplace_back(block.substr(at, colon - at),
                        block.substr(colon + 2, end - colon - 2));
  }
  return colors;
}

}  // namespace

std::string plain_style(std::string_view style) {
  const auto colors = light_colors(style);
  std::string out;
  // Rules of one level: variables and media queries are braces in braces, or
  // begin with two dashes.
  for (std::size_t at = style.find("svg.chart"); at < style.size();) {
    const std::size_t end = style.find('}', at);
    if (end == std::string_view::npos) break;
    const std::string rule(style.substr(at, end + 1 - at));
    const bool by_line = rule.find("var(--c)") != std::string::npos;
    for (std::size_t color = 0; color < (by_line ? kColors : 1U); ++color) {
      const std::string number = std::to_string(color);
      std::string one = rule;
      if (by_line) {
        replace_all(one, ".line", ".line.c" + number);
        replace_all(one, "var(--c)", "var(--c" + number + ")");
      }
      for (const auto& [name, value] : colors)
        replace_all(one, "var(" + name + ")", value);
      out += one;
    }
    at = end + 1;
  }
  return out;
}

std::string to_picture(const std::vector<Chart>& charts, bool plain) {
  const double row = kTitleHeight + kChartHeight + kGapBelow;
  const std::string width = whole(kChartWidth + 2 * kSide);
  const std::string height = whole(row * static_cast<double>(charts.size()));
  std::string out =
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"" +
      width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " +
      height + "\">\n<style>\n";
  out += plain ? plain_style(chart_style()) : std::string(chart_style());
  out += "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: " +
         std::string(plain ? "#fff" : "var(--ground)") + "\"/>\n";
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
