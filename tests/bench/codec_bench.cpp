// The codecs against memory: "of_roofline" is the time of a plain r += u, which
// has the same traffic and is measured in turns, over that of the codec.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/exchange/rules/average.h"
#include "libcore/exchange/rules/threshold_control.h"
#include "tests/bench/machine.h"

namespace {

using namespace dl::exchange;

constexpr float kThreshold = 1;

// Begins a cache line, as the buffers of devices do.
template <typename T>
struct LineAllocator {
  using value_type = T;
  T* allocate(std::size_t n) {
    return static_cast<T*>(
        std::aligned_alloc(64, (n * sizeof(T) + 63) / 64 * 64));
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  bool operator==(const LineAllocator&) const = default;
};
using Aligned = std::vector<float, LineAllocator<float>>;

// r and u such that per_million of the elements of r + u reach the threshold,
// step after step: these get a quantum each time, the others creep.
struct Vectors {
  Vectors(std::int64_t n, std::int64_t per_million)
      : r(static_cast<std::size_t>(n)), u(r.size()) {
    dl::Philox random(1, 2);
    for (std::size_t i = 0; i < r.size(); ++i) {
      const bool over =
          random.below(1'000'000) < static_cast<std::uint64_t>(per_million);
      u[i] = over ? (random() % 2 ? kThreshold : -kThreshold) : 1e-9F;
      r[i] = over ? 0 : 0.8F * (static_cast<float>(random.uniform()) - 0.5F);
    }
  }
  Aligned r, u;
};

// r += u, with the widest registers; n is a multiple of 16.
template <int kBytes>
[[gnu::always_inline]] inline void add_all(float* r, const float* u,
                                           std::size_t n) {
  using Lanes [[gnu::vector_size(kBytes)]] = float;
  for (std::size_t i = 0; i < n; i += kBytes / sizeof(float)) {
    Lanes a, b;
    std::memcpy(&a, r + i, kBytes);
    std::memcpy(&b, u + i, kBytes);
    a += b;
    std::memcpy(r + i, &a, kBytes);
  }
}
__attribute__((target("avx512f"))) void add_16(float* r, const float* u,
                                               std::size_t n) {
  add_all<64>(r, u, n);
}
__attribute__((target("avx2"))) void add_8(float* r, const float* u,
                                           std::size_t n) {
  add_all<32>(r, u, n);
}
void add_plain(float* r, const float* u, std::size_t n) {
  (__builtin_cpu_supports("avx512f") ? add_16 : add_8)(r, u, n);
  benchmark::ClobberMemory();
}

// Runs f and r += u over the same number of elements in turns, so that what
// else the machine does befalls both, and counts the fraction of the speed of
// r += u, 12 bytes an element, that f reaches; both at their best.
template <typename F>
void against_adding(benchmark::State& state, Vectors& v, const F& f) {
  const auto repeats = std::max<std::int64_t>(1, 1'000'000 / state.range(0));
  const auto times = [&](const auto& g) {
    const double start = dl::bench::thread_seconds();
    for (std::int64_t i = 0; i < repeats; ++i) g();
    return (dl::bench::thread_seconds() - start) / static_cast<double>(repeats);
  };
  double best = 1e9, adding = 1e9;
  for (auto step : state) {
    (void)step;
    const double seconds = times(f);
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
    adding = std::min(adding, times([&] {
                        add_plain(v.r.data(), v.u.data(), v.r.size() / 16 * 16);
                      }));
  }
  state.counters["of_roofline"] = adding / best;
}

void report(benchmark::State& state, std::size_t message, std::int64_t quanta) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["message_bytes"] = static_cast<double>(message);
  if (quanta > 0)
    state.counters["quanta/s"] =
        benchmark::Counter(static_cast<double>(quanta),
                           benchmark::Counter::kIsIterationInvariantRate);
}

// The yardstick against itself, on the memory that encode() uses: 1 but for
// noise.
void add(benchmark::State& state) {
  Vectors v(state.range(0), 0);
  ThresholdEncoder other({v.r.size()});
  const std::size_t n = v.r.size() / 16 * 16;
  against_adding(state, v,
                 [&] { add_plain(other.residual().data(), v.u.data(), n); });
  report(state, 0, 0);
}

void encode(benchmark::State& state) {
  Vectors v(state.range(0), state.range(1));
  ThresholdEncoder encoder({v.r.size()});
  std::ranges::copy(v.r, encoder.residual().begin());
  const std::vector<float> thresholds = {kThreshold};
  std::vector<std::byte> message;
  std::int64_t quanta = 0;
  against_adding(state, v, [&] {
    message.clear();
    quanta = encoder.encode(v.u, thresholds, message);
  });
  report(state, message.size(), quanta);
}

void decode(benchmark::State& state) {
  Vectors v(state.range(0), state.range(1));
  std::vector<std::byte> message;
  for (std::size_t i = 0; i < v.r.size(); ++i) v.r[i] += v.u[i];
  const std::int64_t quanta = encode_threshold(v.r, kThreshold, message);
  for (auto step : state) {
    (void)step;
    decode_threshold(message, 1, v.r);
    benchmark::ClobberMemory();
  }
  report(state, message.size(), quanta);
}

// The threshold of one part by a sample, as the quantile rule does for each
// message.
void sample(benchmark::State& state) {
  Vectors v(state.range(0), 0);
  const std::vector<std::size_t> parts = {v.r.size()};
  ThresholdControl control(ThresholdRule::parse("quantile:1e-3"), parts, 0);
  const std::vector<std::int64_t> quanta = {state.range(0) / 1000};
  against_adding(state, v, [&] {
    benchmark::DoNotOptimize(control.next(v.r, v.u));
    control.sent(quanta);
  });
  report(state, 0, 0);
}

void delta_to(benchmark::State& state, const char* text) {
  const auto n = static_cast<std::size_t>(state.range(0));
  dl::Philox random(1, 3);
  std::vector<float> delta(n);
  for (float& v : delta) v = static_cast<float>(random.normal());
  const DeltaFormat format = DeltaFormat::parse(text);
  std::vector<float> residual(format.lossy() ? n : 0);
  std::vector<std::byte> message;
  for (auto step : state) {
    (void)step;
    message.clear();
    encode_delta(delta, format, residual, message);
  }
  report(state, message.size(), 0);
}

void delta_from(benchmark::State& state, const char* text) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const std::vector<float> delta(n, 0.25F);
  const DeltaFormat format = DeltaFormat::parse(text);
  std::vector<float> residual(format.lossy() ? n : 0), target(n);
  std::vector<std::byte> message;
  encode_delta(delta, format, residual, message);
  for (auto step : state) {
    (void)step;
    decode_delta(message, 1, target);
    benchmark::ClobberMemory();
  }
  report(state, message.size(), 0);
}

// The master's work on the parameters of four replicas.
void average(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  Average mean(4, n);
  for (std::size_t slot = 0; slot < 4; ++slot)
    mean.put(slot, std::vector<float>(n, 0.5F), 1);
  for (auto step : state) {
    (void)step;
    benchmark::DoNotOptimize(mean.result());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4 * 5);
}

// LeNet in L2, a layer in L3, and the CIFAR-10 network's 18.8 million in
// memory; at densities in parts per million.
void sizes(benchmark::internal::Benchmark* bench) {
  for (std::int64_t n : {67'780, 1'000'000, 18'804'810})
    for (std::int64_t density : {100, 1'000, 10'000, 62'500, 800'000})
      if (density <= 10'000 || n == 1'000'000) bench->Args({n, density});
}

BENCHMARK(add)->Arg(67'780)->Arg(1'000'000)->Arg(18'804'810)->UseManualTime();
BENCHMARK(encode)->Apply(sizes)->UseManualTime();
BENCHMARK(decode)->Apply(sizes);
BENCHMARK(sample)
    ->Arg(67'780)
    ->Arg(1'000'000)
    ->Arg(18'804'810)
    ->UseManualTime();
BENCHMARK_CAPTURE(delta_to, f32, "f32")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_to, f16, "f16")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_to, int8, "int8")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_to, sparse_2, "sparse:0.01:2")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_to, sparse_8, "sparse:0.01:8")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_from, f32, "f32")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_from, f16, "f16")->Arg(18'804'810);
BENCHMARK_CAPTURE(delta_from, int8, "int8")->Arg(18'804'810);
BENCHMARK(average)->Arg(67'780)->Arg(18'804'810);

}  // namespace

int main(int argc, char** argv) {
  if (!dl::bench::initialise(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
