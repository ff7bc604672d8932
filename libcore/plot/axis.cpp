// Choice of ticks.

#include "libcore/plot/axis.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"

namespace dl::plot {
namespace {

double step_of(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

std::string label_of(double value, double step) {
  const double size = std::abs(value);
  if (size < step / 1000) return "0";
  if (size >= 1e15) return format("%.3g", value);
  for (const auto& [unit, letter] :
       {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}})
    if (size >= unit && step >= unit / 1000 && size >= 10000)
      return format("%.6g", value / unit) + letter;
  const int digits =
      static_cast<int>(std::max(0.0, -std::floor(std::log10(step) + 1e-9)));
  if (digits > 5) return format("%.3g", value);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

Axis axis_of(double low, double high, int wanted, bool round, double apart) {
  // Room for one value, and for doubles at their ends.
  constexpr double kMost = 1e300;
  if (!std::isfinite(low) || !std::isfinite(high)) low = 0, high = 1;
  low = std::clamp(low, -kMost, kMost);
  high = std::clamp(high, -kMost, kMost);
  const double least = std::max({std::abs(low), std::abs(high), 1e-280}) * 1e-9;
  if (high - low < least) {
    const double more = low == 0 && high == 0 ? 1 : std::abs(low) * 0.1;
    low -= round ? more : 0;
    high += std::max(more, least);
  }
  const double step = std::max(apart, step_of(high - low, wanted));
  Axis axis{low, high, {}};
  if (round) {
    axis.low = std::floor(low / step + 1e-9) * step;
    axis.high = std::ceil(high / step - 1e-9) * step;
  }
  const double first = std::ceil(axis.low / step - 1e-9);
  for (int i = 0; i < 3 * wanted; ++i) {
    const double at = (first + i) * step;
    if (at > axis.high + step * 1e-6) break;
    axis.ticks.push_back({at, label_of(at, step)});
  }
  return axis;
}

}  // namespace dl::plot
