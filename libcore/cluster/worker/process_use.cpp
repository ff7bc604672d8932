// Readings of the kernel.

#include "libcore/cluster/worker/process_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace dl::cluster {
namespace {

// Seconds; of less the kernel's counts say little.
constexpr double kShortest = 0.1;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         1e-6 * static_cast<double>(time.tv_usec);
}

// Bytes in memory; 0: not known.
std::int64_t resident_bytes() {
  long long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %lld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return std::max(0LL, pages) * ::sysconf(_SC_PAGESIZE);
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

}  // namespace

ProcessUse::ProcessUse(dl::Clock& clock)
    : clock_(clock), told_(cpu_seconds()), told_at_(clock.seconds()) {}

ExchangeStats ProcessUse::take() {
  ExchangeStats stats;
  const double now = clock_.seconds();
  if (now < told_at_ + kShortest) return stats;
  const double cpu = cpu_seconds();
  stats.measured = now - std::exchange(told_at_, now);
  stats.cpu = std::max(0.0, cpu - std::exchange(told_, cpu));
  stats.memory = resident_bytes();
  return stats;
}

}  // namespace dl::cluster
