// Time: limits use the monotonic clock, records the calendar.

#ifndef DL_LIBCORE_BASE_CLOCK_H_
#define DL_LIBCORE_BASE_CLOCK_H_

#include <string>

namespace dl {

double monotonic_seconds();   // since an arbitrary start; never set back
std::string utc_timestamp();  // RFC 3339, "2026-01-31T12:00:00.123Z"

// Adds the seconds of its life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), begin_(monotonic_seconds()) {}
  ~Stopwatch() { sum_ += monotonic_seconds() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  double begin_;
};

}  // namespace dl

#endif  // DL_LIBCORE_BASE_CLOCK_H_
