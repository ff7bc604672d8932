// The measured speed of one core of this machine: the floor that benchmarks
// are compared with.

#ifndef DL_TESTS_BENCH_MACHINE_H_
#define DL_TESTS_BENCH_MACHINE_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

namespace dl::bench {

// Time that this thread ran, which others on the machine do not disturb much.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// The best of several runs of f().
template <typename F>
double seconds_of(F f, int runs = 7) {
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const double start = thread_seconds();
    f();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

// Ten independent chains of multiply-adds in registers hide their latency.
constexpr int kChains = 10;
#if defined(__clang__)
#define DL_CONTRACT(TARGET) __attribute__((noinline, target(TARGET)))
#else
#define DL_CONTRACT(TARGET) \
  __attribute__((noinline, target(TARGET), optimize("O3", "fp-contract=fast")))
#endif
#define DL_CHAINS(NAME, TARGET, BYTES)                                    \
  DL_CONTRACT(TARGET)                                                     \
  inline double NAME(std::int64_t rounds, float factor) {                 \
    using Lanes [[gnu::vector_size(BYTES)]] = float;                      \
    Lanes chains[kChains] = {};                                           \
    for (int i = 0; i < kChains; ++i) chains[i] += static_cast<float>(i); \
    for (std::int64_t i = 0; i < rounds; ++i)                             \
      for (Lanes & chain : chains) chain = chain * factor + 1.0f;         \
    double sum = 0;                                                       \
    for (const Lanes& chain : chains) sum += chain[0];                    \
    return sum;                                                           \
  }
#if defined(__x86_64__)
DL_CHAINS(chains_of_16, "avx512f", 64)
DL_CHAINS(chains_of_8, "avx2,fma", 32)
DL_CHAINS(chains_of_4, "sse2", 16)
#endif

// Floating-point operations a second in float32; a multiply-add is two.
inline double peak_flops() {
#if defined(__x86_64__)
  constexpr std::int64_t kRounds = 2'000'000;
  const int lanes = __builtin_cpu_supports("avx512f") ? 16
                    : __builtin_cpu_supports("fma")   ? 8
                                                      : 4;
  const auto run = lanes == 16  ? chains_of_16
                   : lanes == 8 ? chains_of_8
                                : chains_of_4;
  volatile double sink = 0;
  const double seconds = seconds_of([&] { sink = run(kRounds, 0.5f); });
  return 2.0 * lanes * kChains * kRounds / seconds;
#else
  return 0;
#endif
}

// Bytes a second that memcpy reads and writes, when all of it takes `bytes`:
// small sizes stay in a cache.
inline double copy_rate(std::int64_t bytes) {
  static std::map<std::int64_t, double> known;
  double& rate = known[bytes];
  if (rate != 0) return rate;
  const auto half = static_cast<std::size_t>(bytes / 2);
  std::vector<char> from(half, 1), to(half, 2);
  const int repeats = static_cast<int>(std::max<std::int64_t>(
      1, (std::int64_t{8} << 20) / std::max<std::int64_t>(bytes, 1)));
  const double seconds = seconds_of([&] {
    for (int i = 0; i < repeats; ++i) {
      std::memcpy(to.data(), from.data(), half);
      asm volatile("" : : "r"(to.data()) : "memory");
    }
  });
  return rate = 2.0 * static_cast<double>(half) * repeats / seconds;
}

// Google Benchmark with a tenth of a second for each case and counters as
// columns; options on the command line come later and win.  false: it was given
// one that it does not know.
inline bool initialise(int argc, char** argv) {
  static char min_time[] = "--benchmark_min_time=0.1";
  static char tabular[] = "--benchmark_counters_tabular=true";
  static std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, {min_time, tabular});
  int count = argc + 2;
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

}  // namespace dl::bench

#endif  // DL_TESTS_BENCH_MACHINE_H_
