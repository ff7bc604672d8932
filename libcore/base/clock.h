// Time: limits use the monotonic clock, records the calendar.

#ifndef DL_LIBCORE_BASE_CLOCK_H_
#define DL_LIBCORE_BASE_CLOCK_H_

#include <string>

namespace dl {

double monotonic_seconds();   // since an arbitrary start; never set back
std::string utc_timestamp();  // RFC 3339, "2026-01-31T12:00:00.123Z"

// Time for everything that measures and waits; a simulation has its own instead
// of this machine's.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double seconds() = 0;  // since an arbitrary start; never set back
};
Clock& monotonic_clock();  // of monotonic_seconds(); thread-safe
// Processor time of the thread that asks: the same however busy the machine is.
Clock& work_clock();

// Adds the seconds of its life to a sum.
class Stopwatch {
 public:
  Stopwatch(Clock& clock, double& sum)
      : clock_(clock), sum_(sum), begin_(clock.seconds()) {}
  ~Stopwatch() { sum_ += clock_.seconds() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Clock& clock_;
  double& sum_;
  double begin_;
};

}  // namespace dl

#endif  // DL_LIBCORE_BASE_CLOCK_H_
