// A worker's step from records in memory takes nothing from the heap: neither
// the loader, which runs beside it, nor the replica, nor the coding of updates.

#include <catch2/catch.hpp>

#include "libcore/cluster/loading/batches.h"
#include "libcore/cluster/worker/replica.h"
#include "libcore/cluster/worker/update_coder.h"
#include "tests/unit/allocations.h"
#include "tests/unit/data/sample.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::allocation_test {

TEST_CASE("a step from records in memory allocates nothing") {
  const int threads = GENERATE(1, 2);
  Scratch dir;
  const auto bytes = sample::stream(std::vector<std::int64_t>(20, 12));
  dir.write("a.dls",
            {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const dl::data::Shard shard(dir / "a.dls");
  const ShardInfo info{dir / "a.dls", shard.digest(), shard.records()};
  const dl::Log silent = [](dl::Level, const std::string&) {};
  RecordStore training({info}, "/", {}, 1 << 20, silent);
  RecordStore evaluation({}, "/", {}, 0, silent);
  BatchPlan plan;
  plan.training.records = {info.records};
  plan.batch = 8;
  BatchLoader loader(plan, training, evaluation);
  Replica replica(dl::nn::parse_network(R"({"input": {"shape": [3]},
      "updater": {"type": "adam"}, "layers": [
      {"type": "dense", "units": 5, "activation": "relu"},
      {"type": "batch_norm"}, {"type": "dropout", "rate": 0.5},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]})",
                                        "'net'"),
                  {}, plan.batch, "cpu", threads);
  SharingSettings sharing;
  sharing.threshold = dl::exchange::ThresholdRule::parse("quantile:0.05");
  std::vector<std::size_t> tensors;
  for (const auto& segment : replica.network().parameter_segments())
    tensors.push_back(static_cast<std::size_t>(segment.elements()));
  UpdateCoder coder(sharing, tensors, 0.9);
  sharing.threshold = dl::exchange::ThresholdRule::parse("adaptive:0.01");
  UpdateCoder by_pieces(sharing, tensors, 0);
  REQUIRE(by_pieces.by_pieces());
  std::vector<std::byte> message;
  message.reserve(1 << 12);

  loader.add({false, 0, 0, 30});
  loader.add({false, 1, 0, 30});
  std::int64_t steps = 0;
  const auto step = [&] {
    const LoadedBatch& batch = loader.next();
    const dl::nn::Position at{steps, batch.epoch,
                              static_cast<std::uint64_t>(steps)};
    ++steps;
    const dl::nn::Batch& view = replica.network().batch_of(batch.set);
    const auto trained = replica.train(view, at);
    message.clear();
    by_pieces.begin();
    const auto computed = replica.compute(
        view, at, [&](std::size_t from, std::span<const float> piece) {
          by_pieces.take(from, piece);
        });
    by_pieces.finish(1, message);
    message.clear();
    const auto update = coder.prepare(replica.update());
    if (steps % 2 == 0)
      coder.keep(update);
    else
      coder.encode(update, 2, message);
    coder.residual_quantiles();
    return trained.fault.empty() && computed.fault.empty();
  };
  // An epoch, which reads the records, and the start of another.
  while (steps < 38) REQUIRE(step());
  bool good = true;
  const auto counted = dl::test::allocations_in([&] {
    while (steps < 58) good = step() && good;
  });
  CHECK(good);
  CHECK(counted.ours == 0);
  CHECK(counted.libraries == 0);
}

}  // namespace dl::cluster::allocation_test
