// A chart of lines, as SVG and as a figure of a page.

#ifndef DL_LIBCORE_PLOT_CHART_H_
#define DL_LIBCORE_PLOT_CHART_H_

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "libcore/plot/thin.h"

namespace dl::plot {

struct Line {
  std::string name;
  Curve curve;
  std::size_t color = 0;
  enum class Style {
    kLine,
    kFaint,
    kDots,
    kDashed,
    kBars,
    kPoints  // alone
  } style = Style::kLine;
};

struct Chart {
  std::string id;     // letters, digits and - alone; unique on its page
  std::string title;  // "Loss"
  std::string x_label, y_label;
  std::vector<Line> lines = {};
  // Bounds; NaN: those of the points.
  double x_low = std::numeric_limits<double>::quiet_NaN(), x_high = x_low;
  double y_low = x_low, y_high = x_low;
  std::string note = {};    // below the title; or ""
  bool diagonal = false;    // draws that of chance
  bool counts = false;      // x are whole numbers
  bool of_several = false;  // runs: a single line has a legend, too
  // Vertical lines: place and name.
  std::vector<std::pair<double, std::string>> marks = {};

  bool empty() const;  // whether no line has a point
};

inline constexpr std::size_t kColors = 10;
inline constexpr double kChartWidth = 560, kChartHeight = 280;

// The picture: an svg element with the class "chart".  Colors are classes of
// chart.css: c0 to c9.
std::string to_svg(const Chart& chart);
// The picture with heading, legend and a table of its numbers.
std::string to_figure(const Chart& chart);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_CHART_H_
