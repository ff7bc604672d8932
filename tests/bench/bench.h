// Helpers that the benchmarks of primitives share: a device with arrays, and
// figures as fractions of what the machine can do.

#ifndef DL_TESTS_BENCH_BENCH_H_
#define DL_TESTS_BENCH_BENCH_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/device/open.h"
#include "tests/bench/machine.h"

namespace dl::bench {

inline double peak() {
  static const double rate = peak_flops();
  return rate;
}

// A device with arrays of ones.
class Bench {
 public:
  tensor::View array(tensor::Shape shape) {
    buffers_.push_back(device->allocate(shape));
    device->fill(buffers_.back()->view(), 1.0 / 64);
    return buffers_.back()->view();
  }
  std::unique_ptr<device::Device> device = dl::device::open_device("cpu");

 private:
  std::vector<std::unique_ptr<tensor::Buffer>> buffers_;
};

inline void report_flops(benchmark::State& state, double flops) {
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, rate);
  state.counters["of_peak"] = benchmark::Counter(flops / peak(), rate);
}

// bytes: read and written by the primitive.
inline void report_bytes(benchmark::State& state, double bytes) {
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  const double copy = copy_rate(static_cast<std::int64_t>(bytes));
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, rate);
  state.counters["of_memory"] = benchmark::Counter(bytes / copy, rate);
}

template <typename F>
void add(const std::string& name, F f) {
  benchmark::RegisterBenchmark(name.c_str(), f);
}

// Reads the command line, and heads the table with what the machine can do.
inline bool start(int argc, char** argv) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GFLOP/s on one core", peak() * 1e-9);
  benchmark::AddCustomContext("peak", text);
  for (const auto& [level, kib] : {std::pair{"copied in L2", 512},
                                   {"copied in L3", 8 << 10},
                                   {"copied in memory", 256 << 10}}) {
    std::snprintf(text, sizeof text, "%.1f GB/s",
                  copy_rate(std::int64_t{kib} << 10) * 1e-9);
    benchmark::AddCustomContext(level, text);
  }
  return initialise(argc, argv);
}

}  // namespace dl::bench

#endif  // DL_TESTS_BENCH_BENCH_H_
