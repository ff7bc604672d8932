// Sync's rounds at a worker: gradients of slots are those of one mini-batch
// that is as large as all, and one slot is what a worker alone does.

#include "libcore/cluster/worker/sync_keeper.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/cluster/settings/gradient_sharing.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/rules/average.h"
#include "libcore/io/digest.h"

namespace dl::cluster::sync_keeper_test {

using dl::tensor::DType;
using dl::tensor::Tensor;
using Floats = std::vector<float>;

namespace {

constexpr std::int64_t kInputs = 6, kExamples = 12;

dl::nn::NetworkConfig network() {
  return dl::nn::parse_network(R"({"seed": 3, "input": {"shape": [6]},
      "updater": {"type": "adam", "learning_rate": 0.01},
      "regularization": {"l2": 0.01},
      "gradient_normalization": "clip_l2_per_layer", "gradient_threshold": 0.5,
      "layers": [{"type": "dense", "units": 9, "activation": "tanh"},
                 {"type": "output", "units": 3,
                  "loss": "negative_log_likelihood"}]})",
                               "'net'");
}

struct Data {
  Tensor features, labels;
  Data(std::int64_t first, std::int64_t count)
      : features(DType::kF32, {count, kInputs}), labels(DType::kI32, {count}) {
    dl::Philox random(5, 1);
    Floats all(kExamples * kInputs);
    for (float& x : all) x = static_cast<float>(random.normal());
    const auto own = features.as<float>();
    std::copy_n(all.begin() + first * kInputs, own.size(), own.begin());
    for (std::int64_t i = 0; i < count; ++i)
      labels.as<std::int32_t>()[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>((first + i) % 3);
  }
  dl::nn::Batch batch() const { return {&features, &labels}; }
};

// A worker of the run: what it computes on, and what it shares.
struct Worker {
  Replica replica{without_updaters(network()), {}, kExamples, "cpu", 1,
                  dl::nn::Start::kLater};
  SyncKeeper keeper{network(), 1, replica.parameters_in_place()};

  Floats gradient(std::int64_t first, std::int64_t count) {
    const Data data(first, count);
    Floats all(keeper.parameters().size());
    std::size_t end = all.size();
    const auto show = [&](double loss, std::size_t from,
                          std::span<const float> found) {
      CHECK(std::isfinite(loss));
      REQUIRE(from + found.size() == all.size());
      REQUIRE(from <= end);
      std::ranges::copy(found, all.begin() + static_cast<std::ptrdiff_t>(from));
      end = from;
    };
    CHECK(replica.gradient(data.batch(), {}, show).fault.empty());
    CHECK(end == 0);
    const auto update = replica.update();
    CHECK(std::ranges::equal(all, update));
    return all;
  }
};

State start(Replica& alone) {
  State state;
  state.version = 1;
  state.parameters = alone.parameters();
  state.updater_state = alone.updater_state();
  return state;
}

Round round_of(std::uint64_t version, const Floats& gradient) {
  Round round;
  round.version = version;
  round.iteration = static_cast<std::int64_t>(version) - 2;
  dl::exchange::encode_delta(gradient, {}, {}, round.delta);
  return round;
}

}  // namespace

TEST_CASE("one slot is what a worker does alone, to the bit") {
  Replica alone(network(), {}, kExamples, "cpu", 1);
  Worker worker;
  worker.keeper.take(start(alone));
  for (std::uint64_t version = 2; version < 6; ++version) {
    const auto size = static_cast<std::int64_t>(version) + 4;  // odd ones too
    dl::exchange::Average mean(1, alone.parameters().size());
    mean.put(0, worker.gradient(0, size), static_cast<double>(size));
    worker.keeper.take(round_of(version, mean.result()));
    const Data data(0, size);
    const dl::nn::Position at{static_cast<std::int64_t>(version) - 2, 0, 0};
    CHECK(alone.train(data.batch(), at).fault.empty());
    CHECK(worker.replica.parameters() == alone.parameters());
  }
}

TEST_CASE("what the master says of a round that was taken is compared") {
  Replica alone(network(), {}, kExamples, "cpu", 1);
  Worker worker;
  worker.keeper.take(start(alone));
  const Floats gradient(alone.parameters().size(), 0.25F);
  worker.keeper.take(round_of(2, gradient));
  worker.keeper.take(round_of(3, gradient));
  const Floats after = worker.replica.parameters();
  Round word;
  word.version = 3;
  word.held = true;
  word.digest = dl::io::digest(std::as_bytes(std::span(after)));
  worker.keeper.take(word);
  CHECK_FALSE(worker.keeper.take_difference());
  CHECK(worker.replica.parameters() == after);
  word.version = 2;
  worker.keeper.take(word);
  const auto difference = worker.keeper.take_difference();
  REQUIRE(difference);
  CHECK(difference->sequence == 2);
}

TEST_CASE("slots are together one mini-batch") {
  Replica alone(network(), {}, kExamples, "cpu", 1);
  Worker worker;
  worker.keeper.take(start(alone));
  const Floats whole = worker.gradient(0, kExamples);
  dl::exchange::Average mean(3, whole.size());
  mean.put(1, worker.gradient(5, 4), 4);
  mean.put(0, worker.gradient(0, 5), 5);
  mean.put(2, worker.gradient(9, 3), 3);
  const Floats sum = mean.result();
  for (std::size_t i = 0; i < whole.size(); ++i)
    CHECK(std::abs(sum[i] - whole[i]) < 1e-6F);
}

TEST_CASE(
    "what does not follow is out of step, and what is over is passed over") {
  Replica alone(network(), {}, kExamples, "cpu", 1);
  Worker worker;
  const Floats gradient(alone.parameters().size(), 0.25F);
  CHECK_THROWS_AS(worker.keeper.take(round_of(2, gradient)), OutOfStep);
  worker.keeper.take(start(alone));
  CHECK_THROWS_AS(worker.keeper.take(round_of(3, gradient)), OutOfStep);
  worker.keeper.take(round_of(2, gradient));
  Task task;
  task.version = 2;
  CHECK(worker.keeper.begin(task));
  CHECK(worker.keeper.has(2));
  CHECK_FALSE(worker.keeper.has(3));
  task.version = 1;
  CHECK_FALSE(worker.keeper.begin(task));
  task.version = 3;
  CHECK_THROWS_AS(worker.keeper.begin(task), OutOfStep);
  State other = start(alone);
  other.updater_state.pop_back();
  CHECK_THROWS_AS(worker.keeper.take(other), dl::Error);
}

TEST_CASE("a round without examples takes no step") {
  Replica alone(network(), {}, kExamples, "cpu", 1);
  Worker worker;
  worker.keeper.take(start(alone));
  Round round;
  round.version = 2;
  round.statistics = {};
  worker.keeper.take(round);
  CHECK(worker.replica.parameters() == alone.parameters());
  CHECK(worker.keeper.has(2));
}

TEST_CASE("a replica that differs is told of once, and nothing begins") {
  Replica alone(network(), {}, kExamples, "cpu", 1);
  Worker worker;
  worker.keeper.take(start(alone));
  Round round = round_of(2, Floats(alone.parameters().size(), 0.25F));
  round.digest = 1;
  worker.keeper.take(round);
  const auto difference = worker.keeper.take_difference();
  REQUIRE(difference);
  CHECK(difference->sequence == 2);
  CHECK(difference->digest ==
        dl::io::digest(std::as_bytes(worker.keeper.parameters())));
  CHECK_FALSE(worker.keeper.take_difference());
  Task task;
  task.version = 2;
  CHECK_FALSE(worker.keeper.begin(task));
  worker.keeper.take(start(alone));
  task.version = 1;
  CHECK(worker.keeper.begin(task));
}

}  // namespace dl::cluster::sync_keeper_test
