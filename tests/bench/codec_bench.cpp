// The threshold code against reading the residual once, which it cannot beat.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/exchange/average.h"
#include "libcore/exchange/threshold.h"
#include "tests/bench/machine.h"

namespace {

using namespace dl::exchange;

constexpr float kThreshold = 1;

// Normal values of which about `per_million` exceed the threshold.
std::vector<float> residual(std::int64_t n, std::int64_t per_million) {
  dl::Philox random(1, 2);
  std::vector<float> r(static_cast<std::size_t>(n));
  for (float& v : r) {
    bool over =
        random.below(1'000'000) < static_cast<std::uint64_t>(per_million);
    v = (over ? 1.0F : 0.4F) * (1 + static_cast<float>(random.uniform()));
    if (random() % 2) v = -v;
  }
  return r;
}

void rates(benchmark::State& state, std::size_t message, std::int64_t quanta) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
  state.counters["message_bytes"] = static_cast<double>(message);
  if (quanta > 0)
    state.counters["bits_per_quantum"] =
        8.0 * static_cast<double>(message - kThresholdHeaderBytes) /
        static_cast<double>(quanta);
}

void encode(benchmark::State& state) {
  const std::vector<float> fresh = residual(state.range(0), state.range(1));
  std::vector<float> r = fresh;
  std::vector<std::byte> message;
  std::int64_t quanta = 0;
  for (auto step : state) {
    (void)step;
    message.clear();
    quanta = encode_threshold(r, kThreshold, message);
    // Put back what was taken: the next pass finds the same quanta.
    decode_threshold(message, 1, r);
  }
  rates(state, message.size(), quanta);
}

void decode(benchmark::State& state) {
  std::vector<float> r = residual(state.range(0), state.range(1));
  std::vector<float> target(r.size());
  std::vector<std::byte> message;
  std::int64_t quanta = encode_threshold(r, kThreshold, message);
  for (auto step : state) {
    (void)step;
    decode_threshold(message, 1, target);
    benchmark::ClobberMemory();
  }
  rates(state, message.size(), quanta);
}

void count(benchmark::State& state) {
  std::vector<float> r = residual(state.range(0), state.range(1));
  for (auto step : state) {
    (void)step;
    benchmark::DoNotOptimize(count_over(r, kThreshold));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

// Reads and writes every element once: the floor of a codec that does both.
void scale(benchmark::State& state) {
  std::vector<float> r = residual(state.range(0), state.range(1));
  for (auto step : state) {
    (void)step;
    for (float& v : r) v *= 1.0000001F;
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

// What the master does with the parameters of four replicas.
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

// LeNet, the CIFAR-10 network's size, and a vector that no cache holds; at
// densities in parts per million.
void sizes(benchmark::internal::Benchmark* bench) {
  for (std::int64_t n : {67'780, 3'000'000, 25'000'000})
    for (std::int64_t density : {100, 1'000, 10'000, 62'500, 800'000})
      if (n <= 3'000'000 || density <= 10'000) bench->Args({n, density});
}

BENCHMARK(encode)->Apply(sizes);
BENCHMARK(decode)->Apply(sizes);
BENCHMARK(count)->Args({67'780, 1'000})->Args({25'000'000, 1'000});
BENCHMARK(average)->Arg(67'780)->Arg(18'804'810);
BENCHMARK(scale)->Args({67'780, 1'000})->Args({25'000'000, 1'000});

}  // namespace

int main(int argc, char** argv) {
  if (!dl::bench::initialise(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
