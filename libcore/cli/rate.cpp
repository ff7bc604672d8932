#include "libcore/cli/rate.h"

#include "libcore/base/clock.h"
#include "libcore/base/number_format.h"

namespace dl::cli {

std::string time_text(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < 2 * kMinute) return format("%.0f s", seconds);
  if (seconds < 2 * kHour) return format("%.0f min", seconds / kMinute);
  return format("%.1f h", seconds / kHour);
}

std::string bytes_text(std::int64_t bytes) {
  auto value = static_cast<double>(bytes);
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return format(unit == 0 || value >= 10 ? "%.0f " : "%.1f ", value) +
         kUnits[unit];
}

Rate::Rate() : start_(monotonic_seconds()) {}

std::string Rate::line(std::int64_t count, const char* of, const Place& place,
                       std::int64_t bytes) const {
  return line(count, of, place, bytes, monotonic_seconds() - start_);
}

std::string Rate::line(std::int64_t count, const char* of, const Place& place,
                       std::int64_t bytes, double seconds) {
  std::string text = std::to_string(count) + " " + of;
  if (count < 1 || !(seconds > 0)) return text;
  const double rate = static_cast<double>(count) / seconds;
  text += format(rate < 10 ? ", %.1f/s" : ", %.0f/s", rate);
  if (bytes > 0) text += ", " + bytes_text(bytes);
  if (place.total > place.done && place.done > 0)
    text += ", " +
            time_text(seconds * static_cast<double>(place.total - place.done) /
                      static_cast<double>(place.done)) +
            " left";
  return text;
}

}  // namespace dl::cli
