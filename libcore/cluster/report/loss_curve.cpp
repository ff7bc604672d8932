// Eighths of blocks.

#include "libcore/cluster/report/loss_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "libcore/base/number_format.h"

namespace dl::cluster {
namespace {

constexpr std::size_t kMostColumns = 50;
constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄",
                                                "▅", "▆", "▇", "█"};

// Means of parts of equal length.
std::vector<double> columns_of(const std::vector<double>& values) {
  const std::size_t columns = std::min(kMostColumns, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t first = i * values.size() / columns;
    const std::size_t last = (i + 1) * values.size() / columns;
    double sum = 0;
    for (std::size_t k = first; k < last; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(last - first));
  }
  return means;
}

std::string line_of(const std::string& name,
                    const std::vector<double>& values) {
  if (values.size() < 2) return "";
  const std::vector<double> columns = columns_of(values);
  const auto [low, high] = std::ranges::minmax(columns);
  std::string line = name;
  for (const double value : columns) {
    const double part = high > low ? (value - low) / (high - low) : 0;
    line += kBlocks[static_cast<std::size_t>(std::lround(part * 7))];
  }
  return line + format("  %.4g", values.front()) +
         format(" to %.4g\n", values.back());
}

}  // namespace

std::string loss_curve(const Json& report) {
  const auto history = report.find("history");
  if (history == report.end() || !history->is_array()) return "";
  std::vector<double> training, held_out;
  for (const Json& epoch : *history) {
    if (const Json loss = epoch.value("loss", Json()); loss.is_number())
      training.push_back(loss.get<double>());
    const Json metrics = epoch.value("metrics", Json::object());
    if (!metrics.is_object()) continue;
    if (const Json loss = metrics.value("log_loss", Json()); loss.is_number())
      held_out.push_back(loss.get<double>());
  }
  return line_of("training     ", training) +
         line_of("held-out     ", held_out);
}

bool shows_blocks() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view locale = value;
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

}  // namespace dl::cluster
