#include "libcore/plot/example_section.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "libcore/io/source.h"
#include "libcore/plot/base64.h"
#include "libcore/plot/markup.h"
#include "libcore/plot/report_charts.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostColumns = 4;
constexpr std::size_t kMostPictures = 48;
constexpr std::size_t kLargestPicture = std::size_t{256} << 10;
constexpr std::size_t kAllPictures = std::size_t{4} << 20;

// The type of a picture that browsers show, by its first bytes; or "".
std::string picture_type(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("\x89PNG\r\n")) return "image/png";
  if (bytes.starts_with("GIF8")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP")
    return "image/webp";
  return bytes.starts_with("BM") ? "image/bmp" : "";
}

// The address with all of the picture in it; "": there is none.
std::string picture_of(const Json& example, std::size_t& room) {
  const std::string file = text(example, "file");
  std::error_code failed;
  if (file.empty() || !std::filesystem::is_regular_file(file, failed) ||
      std::filesystem::file_size(file, failed) >
          std::min(room, kLargestPicture))
    return {};
  try {
    const auto source = io::open_file(file);
    const std::string bytes = io::read_all(*source, kLargestPicture);
    const std::string type = picture_type(bytes);
    if (type.empty()) return {};
    room -= std::min(room, bytes.size());
    return "data:" + type + ";base64," +
           base64(std::as_bytes(std::span(bytes)));
  } catch (const Error&) {
    return {};
  }
}

std::string shown_value(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return readable_number(value.get<double>());
  std::string all;
  if (value.is_array())
    for (const Json& one : value)
      all += (all.empty() ? "" : ", ") + shown_value(one);
  return all.empty() ? "–" : all;
}

std::string name_of_example(const Json& example) {
  if (const std::string id = text(example, "id"); !id.empty()) return id;
  if (example.contains("index")) return "row " + shown_value(example["index"]);
  const std::string input = text(example, "input");
  return "example " + shown_value(part(example, "number")) +
         (input.empty() ? ""
                        : " of " + (input == "-" ? "standard input" : input));
}

void add_pictures(Page& page, const Json& worst) {
  std::string html;
  std::size_t room = kAllPictures, shown = 0;
  for (const Json& one : worst) {
    if (shown == kMostPictures) break;
    const std::string source = picture_of(one, room);
    if (source.empty()) continue;
    ++shown;
    html += "<figure><img loading=\"lazy\" alt=\"" +
            escaped(name_of_example(one), 120) + "\" src=\"" + source +
            "\"><figcaption>" + escaped(shown_value(part(one, "label")), 40) +
            " <small>predicted " +
            escaped(shown_value(part(one, "predicted")), 40) +
            "</small></figcaption></figure>";
  }
  if (!html.empty()) page.html("<div class=\"pictures\">" + html + "</div>\n");
}

double number_at(const Json& example, const char* key, std::size_t column) {
  const Json values = part(example, key);
  return values.is_array() && column < values.size() &&
                 values[column].is_number()
             ? values[column].get<double>()
             : kNone;
}

// Columns of an output.
std::size_t width_of(const Json& sample, const std::string& output) {
  for (const Json& one : sample)
    if (text(one, "output") == output) return part(one, "label").size();
  return 0;
}

Chart scatter(const std::string& id, const std::string& title,
              const std::string& x, const std::string& y,
              std::vector<std::pair<double, double>> points) {
  Chart chart{.id = id, .title = title, .x_label = x, .y_label = y};
  std::ranges::sort(points);
  Curve curve;
  for (const auto& [at, value] : points) {
    curve.x.push_back(at);
    curve.y.push_back(value);
  }
  chart.lines.push_back({"examples", curve, 0, Line::Style::kPoints});
  return chart;
}

}  // namespace

std::vector<Chart> sample_charts(const Json& examples, const Json& evaluation,
                                 const std::string& prefix) {
  const std::string output = text(evaluation, "output");
  std::vector<Chart> charts;
  const Json sample = part(examples, "sample");
  for (std::size_t column = 0; column < kMostColumns; ++column) {
    std::vector<std::pair<double, double>> fits, residuals;
    for (const Json& one : sample) {
      const double t = number_at(one, "label", column);
      const double y = number_at(one, "predicted", column);
      if (text(one, "output") != output || !std::isfinite(t) ||
          !std::isfinite(y))
        continue;
      fits.emplace_back(t, y);
      residuals.emplace_back(y, y - t);
    }
    if (fits.empty()) break;
    const std::string number = std::to_string(column);
    const bool alone = column == 0 && width_of(sample, output) == 1;
    const std::string of = alone ? "" : ": " + output_name(evaluation, column);
    Chart fit = scatter(prefix + "fit" + number, "Predicted and true" + of,
                        "True value", "predicted, as the diagonal if right",
                        std::move(fits));
    // One scale for both, so that the diagonal is that of equal values.
    const Curve& curve = fit.lines[0].curve;
    fit.x_low = fit.y_low =
        std::min(std::ranges::min(curve.x), std::ranges::min(curve.y));
    fit.x_high = fit.y_high =
        std::max(std::ranges::max(curve.x), std::ranges::max(curve.y));
    fit.diagonal = true;
    charts.push_back(std::move(fit));
    charts.push_back(scatter(prefix + "residuals" + number, "Residuals" + of,
                             "Predicted value", "predicted less true",
                             std::move(residuals)));
  }
  if (!charts.empty())
    charts[0].note =
        "A sample of " +
        grouped(static_cast<double>(charts[0].lines[0].curve.x.size())) +
        " examples.";
  return charts;
}

void add_worst(Page& page, const Json& examples, const std::string& id,
               const std::string& title) {
  const Json worst = part(examples, "worst");
  if (!worst.is_array() || worst.empty()) return;
  page.section(id, title);
  add_pictures(page, worst);
  const bool several = std::ranges::any_of(
      worst, [](const Json& one) { return one.contains("output"); });
  const bool likely = std::ranges::any_of(worst, [](const Json& one) {
    return part(one, "probability").is_number();
  });
  std::vector<std::vector<std::string>> rows;
  for (const Json& one : worst) {
    rows.push_back({name_of_example(one)});
    if (several) rows.back().push_back(text(one, "output"));
    rows.back().push_back(shown_value(part(one, "label")));
    rows.back().push_back(shown_value(part(one, "predicted")));
    if (likely) rows.back().push_back(shown_value(part(one, "probability")));
    rows.back().push_back(shown_value(part(one, "loss")));
  }
  std::vector<std::string> head = {"Example"};
  if (several) head.emplace_back("Output");
  head.insert(head.end(), {"Label", "Predicted"});
  if (likely) head.emplace_back("Probability");
  head.emplace_back("Loss");
  page.table(head, rows, title, rows.size() > 20);
}

}  // namespace dl::plot
