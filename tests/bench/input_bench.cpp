// The way of MNIST's pictures from shards on disk into a network: each part by
// itself, and LeNet fed by it beside LeNet fed from memory.
//
// The pictures come from ${DL_TEST_DATA:-../shared/data}/mnist; without it
// there is nothing to measure.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/cluster/loading/batches.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/data/sharding/deal.h"
#include "libcore/device/open.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/preprocess.h"
#include "libcore/vectorize/reader.h"
#include "tests/bench/machine.h"
#include "tests/unit/scratch.h"

namespace {

using benchmark::State;
using dl::cluster::assemble;
using dl::cluster::BatchLoader;
using dl::cluster::BatchPlan;
using dl::cluster::LoadedBatch;
using dl::cluster::RecordStore;
using dl::cluster::Replica;
using dl::cluster::ShardInfo;

constexpr std::int64_t kBatch = 64;

std::string mnist() {
  const char* given = std::getenv("DL_TEST_DATA");
  return (given ? std::string(given) : DL_SOURCE_DIR "/../shared/data") +
         "/mnist/train-";
}

// Shards as dl-preprocess idx | dl-shard -n 4 makes them.
std::vector<ShardInfo> make_shards(const Scratch& folder) {
  dl::vectorize::BadRecords bad(0);
  const auto reader = dl::vectorize::open_idx(
      {mnist() + "images-idx3-ubyte.gz", mnist() + "labels-idx1-ubyte.gz"},
      true, {}, bad);
  dl::vectorize::preprocess(*reader, dl::io::open_sink(folder / "all.dls"), {},
                            [](std::int64_t) {});
  dl::data::DealOptions options;
  options.prefix = folder / "mnist";
  options.shards = 4;
  std::vector<ShardInfo> shards;
  for (const auto& dealt : dl::data::deal({folder / "all.dls"}, options)) {
    const dl::data::Shard shard(dealt.path);
    shards.push_back({dealt.path, shard.digest(), shard.records()});
  }
  return shards;
}

struct Input {
  explicit Input(std::vector<ShardInfo> shards, std::size_t cache_bytes)
      : store(shards, "/", {}, cache_bytes,
              [](dl::Level, const std::string&) {}) {
    for (const ShardInfo& shard : shards)
      plan.training.records.push_back(shard.records);
    plan.batch = kBatch;
  }
  BatchPlan plan;
  RecordStore store;
};

// Time of this thread, for others on the machine disturb.
template <typename F>
void per_example(State& state, std::int64_t examples, F f) {
  for (auto _ : state) {
    const double start = dl::bench::thread_seconds();
    f();
    state.SetIterationTime(dl::bench::thread_seconds() - start);
  }
  state.counters["ns_per_example"] =
      benchmark::Counter(static_cast<double>(examples) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

void add_parts(const std::vector<ShardInfo>& shards) {
  const auto add = [](const char* name, auto f) {
    benchmark::RegisterBenchmark(name, f)->UseManualTime();
  };
  add("read_record", [&](State& state) {
    const dl::data::Shard shard(shards[0].path);
    per_example(state, shard.examples(), [&] {
      for (std::size_t r = 0; r < shard.records().size(); ++r)
        benchmark::DoNotOptimize(shard.read(r));
    });
  });
  for (const bool cached : {false, true})
    add(cached ? "batch/from_memory" : "batch/from_disk",
        [&, cached](State& state) {
          Input input(shards, cached ? std::size_t{1} << 30 : 0);
          dl::data::Epoch epoch(input.plan.training, kBatch, 1, 0, true);
          LoadedBatch batch;
          const auto whole = [&] {
            for (std::int64_t i = 0; i + 1 < epoch.batches(); ++i)
              assemble(epoch, i, input.store, batch);
          };
          if (cached) whole();
          per_example(state, (epoch.batches() - 1) * kBatch, whole);
        });
  add("upload", [&](State& state) {
    Input input(shards, 0);
    dl::data::Epoch epoch(input.plan.training, kBatch, 1, 0, true);
    LoadedBatch batch;
    assemble(epoch, 0, input.store, batch);
    const auto device = dl::device::open_device("cpu");
    const auto x = device->allocate({kBatch, 28, 28, 1}),
               y = device->allocate({kBatch, 10}), one = device->allocate({1});
    device->fill(one->view(), 1.0 / 255);
    per_example(state, 100 * kBatch, [&] {
      for (int i = 0; i < 100; ++i) {
        device->upload_scaled(x->view(), batch.set.get("features"), one->view(),
                              one->view());
        device->upload_one_hot(y->view(), batch.set.get("labels"));
      }
    });
  });
}

// Seconds of a step: on the wall, and of all threads together, which others on
// the machine disturb less.
struct Times {
  double wall = 1e9, all_cores = 1e9;

  template <typename F>
  double best_of(std::int64_t steps, F f) {
    const double begin = now(CLOCK_MONOTONIC);
    const double begin_all = now(CLOCK_PROCESS_CPUTIME_ID);
    f();
    const auto n = static_cast<double>(steps);
    const double taken = now(CLOCK_MONOTONIC) - begin;
    wall = std::min(wall, taken / n);
    all_cores =
        std::min(all_cores, (now(CLOCK_PROCESS_CPUTIME_ID) - begin_all) / n);
    return taken;
  }
  static double now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) +
           1e-9 * static_cast<double>(time.tv_nsec);
  }
};

// Blocks of steps with batches from memory and with batches from shards take
// turns; the best of each count.  Where nothing is cached every record is read
// and unpacked each time, as in the first epoch of a run.
void lenet(State& state, const std::vector<ShardInfo>& shards, int threads,
           bool cached) {
  constexpr std::int64_t kSteps = 50;
  const auto source =
      dl::io::open_source(DL_SOURCE_DIR "/scripts/share/examples/lenet.json");
  Replica replica(
      dl::nn::parse_network(dl::io::read_all(*source, 1 << 20), "lenet.json"),
      dl::data::Normalizer{"scale", {0}, {1.0 / 255}}, kBatch, "cpu", threads);
  constexpr std::size_t kAll = std::size_t{1} << 30;
  Input kept(shards, kAll), read(shards, cached ? kAll : 0), none({}, 0);
  dl::data::Epoch epoch(kept.plan.training, kBatch, 1, 0, true);
  std::vector<LoadedBatch> batches(kSteps);
  for (std::int64_t i = 0; i < kSteps; ++i)
    assemble(epoch, i, kept.store, batches[static_cast<std::size_t>(i)]);
  LoadedBatch any;
  for (std::int64_t i = 0; cached && i < epoch.batches(); ++i)
    assemble(epoch, i, read.store, any);
  BatchLoader loader(read.plan, read.store, none.store);
  const std::int64_t blocks = (epoch.batches() - 1) / kSteps;
  std::int64_t block = 0, step = 0;
  const auto train = [&](const LoadedBatch& batch) {
    const auto done =
        replica.train(replica.network().batch_of(batch.set), {step, 0, 1});
    if (!done.fault.empty()) throw dl::Error{dl::Code::kBug, done.fault};
    ++step;
  };
  Times memory, read_in;
  for (auto _ : state) {
    memory.best_of(kSteps, [&] {
      for (const LoadedBatch& b : batches) train(b);
    });
    // Not counted: the start of the loader.
    loader.add({false, block / blocks, block % blocks * kSteps, kSteps});
    ++block;
    train(loader.next());
    state.SetIterationTime(read_in.best_of(kSteps - 1, [&] {
      for (std::int64_t i = 1; i < kSteps; ++i) train(loader.next());
    }));
  }
  state.counters["ms_from_memory"] = 1e3 * memory.wall;
  state.counters["ms_from_shards"] = 1e3 * read_in.wall;
  state.counters["of_memory"] = memory.wall / read_in.wall;
  // The fraction without a core to spare for reading.
  state.counters["of_memory_busy"] = memory.all_cores / read_in.all_cores;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  if (!std::filesystem::exists(mnist() + "images-idx3-ubyte.gz")) {
    std::cerr << "input_bench: skipped: no '" << mnist() << "...'\n";
    return 0;
  }
  const Scratch folder;
  const std::vector<ShardInfo> shards = make_shards(folder);
  add_parts(shards);
  std::vector<int> threads = {1};
  if (dl::available_cores() > 1) threads.push_back(dl::available_cores());
  for (const int n : threads)
    for (const bool cached : {false, true})
      benchmark::RegisterBenchmark(
          ("lenet/threads:" + std::to_string(n) + (cached ? "/cached" : ""))
              .c_str(),
          [&shards, n, cached](State& state) {
            lenet(state, shards, n, cached);
          })
          ->UseManualTime()
          ->Iterations(15);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
