// Augmentation by the loader of a worker: the same mini-batches whatever
// threads it has, and the stored pictures for evaluation.

#include <catch2/catch.hpp>

#include "libcore/cluster/loading/batches.h"
#include "libcore/data/format/stream.h"
#include "libcore/io/sink.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::augment_test {

namespace {

using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kRecords = 6, kEach = 10;

void write_pictures(const std::string& path) {
  data::StreamWriter out(io::open_sink(path));
  Philox random(1, 2);
  for (std::int64_t record = 0; record < kRecords; ++record) {
    data::DataSet set;
    Tensor features(DType::kU8, {kEach, 6, 6, 3}), labels(DType::kI32, {kEach});
    for (std::uint8_t& value : features.as<std::uint8_t>())
      value = static_cast<std::uint8_t>(random());
    set.tensors.emplace("features", std::move(features));
    set.tensors.emplace("labels", std::move(labels));
    if (record == 0) {
      data::Metadata metadata;
      metadata.schema = data::Metadata::schema_of(set);
      out.write_metadata(metadata);
    }
    out.write(set);
  }
  out.close();
}

}  // namespace

TEST_CASE("a loader augments training alone, alike with any threads") {
  Scratch dir;
  write_pictures(dir / "a.dls");
  const data::Shard shard(dir / "a.dls");
  const ShardInfo info{dir / "a.dls", shard.digest(), shard.records()};
  const Log silent = [](Level, const std::string&) {};
  const nn::NetworkConfig network = nn::parse_network(
      R"({"seed": 3, "input": {"shape": [6, 6, 3]}, "augment": [
        {"type": "flip"}, {"type": "crop", "padding": 2}, {"type": "mixup"}],
        "layers": [{"type": "output", "units": 2, "activation": "softmax",
        "loss": "negative_log_likelihood"}]})",
      "'net'");
  // Mini-batches of two epochs, or of an evaluation.
  const auto loaded = [&](bool evaluation, std::int64_t batch, int threads,
                          bool augmented) {
    RecordStore training({info}, "/", {}, 1 << 20, silent);
    RecordStore held_out({info}, "/", {}, 1 << 20, silent);
    BatchPlan plan;
    plan.training.records = plan.evaluation.records = {info.records};
    plan.batch = batch;
    if (augmented) plan.augmenter = std::make_shared<nn::Augmenter>(network);
    plan.threads = threads;
    if (augmented) plan.augmenter->use_threads(threads);
    BatchLoader loader(plan, training, held_out);
    std::vector<std::uint8_t> all;
    const std::int64_t batches = kRecords * kEach / batch;
    for (std::int64_t epoch = 0; epoch < (evaluation ? 1 : 2); ++epoch) {
      loader.add({evaluation, epoch, 0, batches});
      for (std::int64_t i = 0; i < batches; ++i) {
        const LoadedBatch& given = loader.next();
        const auto bytes = given.set.get("features").as<std::uint8_t>();
        all.insert(all.end(), bytes.begin(), bytes.end());
        const bool soft = augmented && !evaluation;
        CHECK(given.set.get("labels").dtype() ==
              (soft ? DType::kF32 : DType::kI32));
      }
    }
    return all;
  };
  const auto once = loaded(false, 12, 1, true);
  CHECK(loaded(false, 12, 3, true) == once);
  CHECK(loaded(false, 12, 1, false) != once);
  CHECK(loaded(true, 12, 3, true) == loaded(true, 12, 1, false));
}

}  // namespace dl::cluster::augment_test
