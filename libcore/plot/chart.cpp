// Drawing of charts.

#include "libcore/plot/chart.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/plot/axis.h"
#include "libcore/plot/markup.h"

namespace dl::plot {
namespace {

constexpr double kLeft = 58, kRight = 14, kTop = 12, kBottom = 42;
constexpr double kPlotWidth = kChartWidth - kLeft - kRight;
constexpr double kPlotHeight = kChartHeight - kTop - kBottom;

std::string at_pixel(double value) { return format("%.1f", value); }

struct Frame {
  Axis x, y;
  double left(double value) const {
    return kLeft + kPlotWidth * std::clamp(x.place(value), 0.0, 1.0);
  }
  double top(double value) const {
    return kTop + kPlotHeight * (1 - std::clamp(y.place(value), -0.01, 1.01));
  }
  std::string point(double at, double value) const {
    return at_pixel(left(at)) + " " + at_pixel(top(value));
  }
};

void stretch(double& low, double& high, const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
}

Frame frame_of(const Chart& chart) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  double x_low = none, x_high = none, y_low = none, y_high = none;
  for (const Line& line : chart.lines) {
    stretch(x_low, x_high, line.curve.x);
    stretch(y_low, y_high, line.curve.y);
    stretch(y_low, y_high, line.curve.low);
    stretch(y_low, y_high, line.curve.high);
    if (line.style == Line::Style::kBars) y_low = std::fmin(y_low, 0);
  }
  // From 0 where that costs little.
  if (y_low > 0 && y_low < 0.6 * y_high) y_low = 0;
  const auto given = [](double bound, double own) {
    return std::isfinite(bound) ? bound : own;
  };
  Frame frame{axis_of(given(chart.x_low, x_low), given(chart.x_high, x_high), 6,
                      false, chart.counts ? 1 : 0),
              axis_of(given(chart.y_low, y_low), given(chart.y_high, y_high), 4,
                      !std::isfinite(chart.y_high))};
  return frame;
}

std::string color_of(const Line& line) {
  return "c" + std::to_string(line.color % kColors);
}

std::string band(const Frame& frame, const Line& line) {
  const Curve& curve = line.curve;
  if (curve.low.size() != curve.x.size() || curve.x.size() < 2) return {};
  std::string path = "M";
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    path += (i == 0 ? "" : "L") + frame.point(curve.x[i], curve.high[i]);
  for (std::size_t i = curve.x.size(); i-- > 0;)
    path += "L" + frame.point(curve.x[i], curve.low[i]);
  return "<path class=\"band\" d=\"" + path + "z\"/>";
}

std::string bars(const Frame& frame, const Curve& curve) {
  std::string path;
  const double width =
      curve.x.size() > 1
          ? (frame.left(curve.x[1]) - frame.left(curve.x[0])) * 0.9
          : 20;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const double left = frame.left(curve.x[i]) - width / 2;
    path += "M" + at_pixel(left) + " " + at_pixel(frame.top(0)) + "V" +
            at_pixel(frame.top(curve.y[i])) + "h" + at_pixel(width) + "V" +
            at_pixel(frame.top(0)) + "z";
  }
  return "<path class=\"bars\" d=\"" + path + "\"/>";
}

std::string point_marks(const Frame& frame, const Curve& curve) {
  std::string path;
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    path += "M" + frame.point(curve.x[i], curve.y[i]) + "h0";
  return "<path class=\"points\" d=\"" + path + "\"/>";
}

std::string drawn(const Frame& frame, const Line& line, std::size_t index) {
  const Curve& curve = line.curve;
  std::string out = "<g class=\"line " + color_of(line) +
                    (line.style == Line::Style::kFaint    ? " faint"
                     : line.style == Line::Style::kDashed ? " dashed"
                                                          : "") +
                    "\" data-line=\"" + std::to_string(index) + "\">";
  if (line.style == Line::Style::kBars)
    return out + bars(frame, curve) + "</g>";
  out += band(frame, line);
  if (line.style == Line::Style::kPoints)
    return out + point_marks(frame, curve) + "</g>";
  std::string path;
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    path += (i == 0 ? "M" : "L") + frame.point(curve.x[i], curve.y[i]);
  if (curve.x.size() > 1) out += "<path d=\"" + path + "\"/>";
  if (line.style == Line::Style::kDots || curve.x.size() == 1)
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      out += "<circle r=\"3\" cx=\"" + at_pixel(frame.left(curve.x[i])) +
             "\" cy=\"" + at_pixel(frame.top(curve.y[i])) + "\"/>";
  return out + "</g>";
}

std::string axes(const Chart& chart, const Frame& frame) {
  std::string out = "<g class=\"axes\">";
  for (const Tick& tick : frame.y.ticks) {
    const std::string y = at_pixel(frame.top(tick.at));
    out += "<path class=\"grid\" d=\"M" + at_pixel(kLeft) + " " + y + "h" +
           at_pixel(kPlotWidth) + "\"/><text class=\"y\" x=\"" +
           at_pixel(kLeft - 7) + "\" y=\"" + y + "\" dy=\".35em\">" +
           tick.label + "</text>";
  }
  const std::string base = at_pixel(kTop + kPlotHeight);
  out += "<path class=\"base\" d=\"M" + at_pixel(kLeft) + " " + base + "h" +
         at_pixel(kPlotWidth) + "\"/>";
  for (const Tick& tick : frame.x.ticks) {
    const std::string x = at_pixel(frame.left(tick.at));
    out += "<path class=\"base\" d=\"M" + x + " " + base + "v4\"/>" +
           "<text class=\"x\" x=\"" + x + "\" y=\"" +
           at_pixel(kTop + kPlotHeight + 17) + "\">" + tick.label + "</text>";
  }
  return out + "<text class=\"x label\" x=\"" +
         at_pixel(kLeft + kPlotWidth / 2) + "\" y=\"" +
         at_pixel(kChartHeight - 6) + "\">" + escaped(chart.x_label, 80) +
         "</text></g>";
}

// A line in words, for readers who do not see it.
std::string summary_of(const Line& line) {
  const Curve& curve = line.curve;
  if (curve.x.empty()) return {};
  return line.name + " from " + readable_number(curve.y.front()) + " to " +
         readable_number(curve.y.back()) + "; ";
}

std::string data_of(const Chart& chart, const Frame& frame) {
  const auto numbers = [](const std::vector<double>& values) {
    Json all = Json::array();
    for (const double value : values)
      all.push_back(Json::parse(format("%.6g", value)));
    return all;
  };
  Json lines = Json::array();
  for (const Line& line : chart.lines) {
    Json one = {{"name", displayed(line.name)},
                {"x", numbers(line.curve.x)},
                {"y", numbers(line.curve.y)}};
    if (!line.curve.low.empty()) {
      one["low"] = numbers(line.curve.low);
      one["high"] = numbers(line.curve.high);
    }
    lines.push_back(std::move(one));
  }
  return json_in_html(
      {{"x", displayed(chart.x_label)},
       {"box", {kLeft, kTop, kPlotWidth, kPlotHeight}},
       {"range", {frame.x.low, frame.x.high, frame.y.low, frame.y.high}},
       {"lines", std::move(lines)}});
}

std::string cells(const std::vector<std::string>& values, const char* first) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string tag = i == 0 ? first : "td";
    const std::string name = tag.substr(0, 2);
    row += "<" + tag + ">" + values[i] + "</" + name + ">";
  }
  return row + "</tr>";
}

// A row a point where lines share few of them, else a row a line.
std::string table_of(const Chart& chart) {
  const auto& lines = chart.lines;
  const bool shared =
      std::ranges::all_of(
          lines,
          [&](const Line& line) { return line.curve.x == lines[0].curve.x; }) &&
      lines[0].curve.x.size() <= 60;
  std::string head = "<tr>", body;
  if (shared) {
    head += "<th scope=\"col\">" + escaped(chart.x_label, 80) + "</th>";
    for (const Line& line : lines)
      head += "<th scope=\"col\">" + escaped(line.name, 60) + "</th>";
    for (std::size_t i = 0; i < lines[0].curve.x.size(); ++i) {
      std::vector<std::string> row = {readable_number(lines[0].curve.x[i])};
      for (const Line& line : lines)
        row.push_back(readable_number(line.curve.y[i]));
      body += cells(row, "th scope=\"row\"");
    }
  } else {
    for (const char* name : {"Line", "First", "Last", "Lowest", "Highest"})
      head += std::string("<th scope=\"col\">") + name + "</th>";
    for (const Line& line : lines) {
      const Curve& curve = line.curve;
      if (curve.x.empty()) continue;
      body += cells({escaped(line.name, 60), readable_number(curve.y.front()),
                     readable_number(curve.y.back()),
                     readable_number(std::ranges::min(
                         curve.low.empty() ? curve.y : curve.low)),
                     readable_number(std::ranges::max(
                         curve.high.empty() ? curve.y : curve.high))},
                    "th scope=\"row\"");
    }
  }
  return "<details><summary>Numbers</summary><div class=\"scroll\"><table>"
         "<thead>" +
         head + "</tr></thead><tbody>" + body +
         "</tbody></table></div></details>";
}

}  // namespace

bool Chart::empty() const {
  return std::ranges::all_of(
      lines, [](const Line& line) { return line.curve.x.empty(); });
}

std::string to_svg(const Chart& chart) {
  const Frame frame = frame_of(chart);
  std::string said = chart.title + ": ";
  for (std::size_t i = 0; i < std::min<std::size_t>(8, chart.lines.size()); ++i)
    said += summary_of(chart.lines[i]);
  std::string out =
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 "
      "0 " +
      format("%.0f", kChartWidth) + " " + format("%.0f", kChartHeight) +
      "\" role=\"img\" aria-label=\"" + escaped(said, 600) + "\">" +
      axes(chart, frame);
  if (chart.diagonal)
    out += "<path class=\"grid dashed\" d=\"M" +
           frame.point(frame.x.low, frame.y.low) + "L" +
           frame.point(frame.x.high, frame.y.high) + "\"/>";
  for (const auto& [at, name] : chart.marks)
    out += "<g class=\"mark\"><path d=\"M" + at_pixel(frame.left(at)) + " " +
           at_pixel(kTop) + "v" + at_pixel(kPlotHeight) + "\"/><title>" +
           escaped(name, 80) + "</title></g>";
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    out += drawn(frame, chart.lines[i], i);
  return out + "</svg>";
}

std::string to_figure(const Chart& chart) {
  std::string out = "<figure id=\"" + chart.id + "\"><figcaption><h3>" +
                    escaped(chart.title, 120) + "</h3>";
  if (!chart.y_label.empty())
    out += "<span class=\"unit\">" + escaped(chart.y_label, 80) + "</span>";
  out += "</figcaption>";
  if (!chart.note.empty())
    out += "<p class=\"note\">" + escaped(chart.note) + "</p>";
  if (chart.empty()) return out + "<p class=\"note\">No numbers.</p></figure>";
  if (chart.lines.size() > 1 || chart.of_several) {
    out += "<div class=\"legend\">";
    for (std::size_t i = 0; i < chart.lines.size(); ++i)
      out += "<button type=\"button\" class=\"" + color_of(chart.lines[i]) +
             (chart.lines[i].style == Line::Style::kFaint ? " faint" : "") +
             "\" aria-pressed=\"true\" data-line=\"" + std::to_string(i) +
             "\">" + escaped(chart.lines[i].name, 60) + "</button>";
    out += "</div>";
  }
  return out + "<div class=\"plot\">" + to_svg(chart) + "</div>" +
         table_of(chart) + "<script type=\"application/json\">" +
         data_of(chart, frame_of(chart)) + "</script></figure>\n";
}

}  // namespace dl::plot
