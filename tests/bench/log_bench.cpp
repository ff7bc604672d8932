// The cost of the update log for each update of the master, and how fast it is
// replayed.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cluster/run_dir/averaging_log.h"
#include "libcore/cluster/run_dir/replay.h"
#include "libcore/cluster/run_dir/update_log.h"
#include "libcore/exchange/codec/threshold.h"
#include "tests/unit/scratch.h"

namespace {

using namespace dl::cluster;

constexpr std::size_t kElements = 1'000'000;
constexpr LogIdentity kIdentity{kElements, 1};

dl::Log quiet() {
  return [](dl::Level, const std::string&) {};
}

// Every `gap`-th element moves.
std::vector<std::byte> update_of(std::size_t gap) {
  std::vector<float> residual(kElements);
  for (std::size_t i = 0; i < kElements; i += gap) residual[i] = 1;
  std::vector<std::byte> payload;
  dl::exchange::encode_threshold(residual, 1, payload);
  return payload;
}

LogEntry entry_of(const std::vector<std::byte>& payload, std::uint64_t number) {
  LogEntry entry;
  entry.sequence = number;
  entry.first = static_cast<std::int64_t>(number);
  entry.count = 1;
  entry.examples = 32;
  entry.payload = payload;
  return entry;
}

// Argument: one element in so many moves.
void append(benchmark::State& state) {
  const Scratch folder;
  const auto payload = update_of(static_cast<std::size_t>(state.range(0)));
  UpdateLog log(folder.path(), kIdentity, std::string(32, 'a'), quiet());
  log.go_on(0);
  std::uint64_t number = 0;
  for (auto _ : state) log.append(entry_of(payload, ++number));
  state.counters["bytes"] = static_cast<double>(payload.size());
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(payload.size()));
}
BENCHMARK(append)->Arg(1000)->Arg(100)->Arg(10);

// A round of averaging; argument: values a parameter, 1 for its difference, 2
// with the state of adagrad.
void append_round(benchmark::State& state) {
  const Scratch folder;
  Round round;
  round.delta.resize(sizeof(float) * kElements);
  round.updater_state.resize(static_cast<std::size_t>(state.range(0) - 1) *
                             kElements);
  UpdateLog log(folder.path(), kIdentity, std::string(32, 'a'), quiet());
  log.go_on(0);
  LogEntry entry;
  entry.kind = EntryKind::kRound;
  entry.count = 1;
  for (auto _ : state) {
    ++entry.sequence;
    const auto payload =
        encode_round_record(round, dl::exchange::OuterOptimizer{}, 1, {});
    entry.payload = payload;
    entry.rest = round.delta;
    log.append(entry);
    if (log.size() > std::size_t{256} << 20) {
      state.PauseTiming();
      log.begin(entry.sequence);
      log.prune(entry.sequence);
      state.ResumeTiming();
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(sizeof(float) * kElements));
}
BENCHMARK(append_round)->Arg(1)->Arg(2);

void replay_updates(benchmark::State& state) {
  const Scratch folder;
  const auto payload = update_of(static_cast<std::size_t>(state.range(0)));
  {
    UpdateLog log(folder.path(), kIdentity, std::string(32, 'a'), quiet());
    log.go_on(0);
    for (std::uint64_t i = 1; i <= 200; ++i) log.append(entry_of(payload, i));
  }
  std::uint64_t updates = 0;
  for (auto _ : state) {
    RunState run;
    run.parameters.resize(kElements);
    updates += replay(folder.path(), kIdentity, run, kLastUpdate, quiet());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(updates));
}
BENCHMARK(replay_updates)->Arg(1000)->Arg(100);

}  // namespace

BENCHMARK_MAIN();
