// Lines that others can cause as often as they like: so many a minute are told,
// and the next one says how many were not.  Not thread-safe.

#ifndef DL_LIBCORE_BASE_LINE_LIMIT_H_
#define DL_LIBCORE_BASE_LINE_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dl::cluster {

class LineLimit {
 public:
  explicit LineLimit(int a_minute) : most_(a_minute) {}

  // No line is told now; so many were not.
  bool is_over(double now) {
    constexpr double kMinute = 60;
    if (now - since_ >= kMinute) {
      since_ = now;
      told_ = 0;
    }
    return told_ >= most_;
  }
  void pass_over(std::uint64_t lines) { untold_ += lines; }

  // now: monotonic, in seconds.  Nothing: the line is not to be told; else what
  // to add to it, mostly "".
  std::optional<std::string> tell(double now) {
    if (is_over(now)) {
      pass_over(1);
      return std::nullopt;
    }
    ++told_;
    const std::uint64_t untold = std::exchange(untold_, 0);
    if (untold == 0) return "";
    return " (and " + std::to_string(untold) +
           " others before it, which are not told)";
  }

 private:
  const int most_;
  double since_ = 0;  // of this minute: told, and not told
  int told_ = 0;
  std::uint64_t untold_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_BASE_LINE_LIMIT_H_
