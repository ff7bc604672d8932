// The system's clocks, and times as text.

#include "libcore/base/clock.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace dl {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double monotonic_seconds() { return seconds_of(CLOCK_MONOTONIC); }

Clock& monotonic_clock() {
  class Monotonic : public Clock {
    double seconds() override { return monotonic_seconds(); }
  };
  static Monotonic clock;
  return clock;
}

Clock& work_clock() {
  class Work : public Clock {
    double seconds() override { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
  };
  static Work clock;
  return clock;
}

std::string utc_timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%s.%03ldZ", date.data(),
                now.tv_nsec / 1000000);
  return text.data();
}

}  // namespace dl
