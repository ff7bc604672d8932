// A replica's guarded step: what is left after a fault.

#include "libcore/cluster/worker/replica.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <mutex>

#include "libcore/base/error.h"

namespace dl::cluster::replica_test {

using dl::tensor::DType;
using dl::tensor::Tensor;
using Floats = std::vector<float>;

namespace {

// Two classes from two numbers, weights at zero, batch normalization for its
// statistics.
struct Plant {
  explicit Plant(int threads)
      : replica(dl::nn::parse_network(R"({"input": {"shape": [2]},
            "weight_init": "zero", "updater": {"type": "adagrad"}, "layers": [
            {"type": "output", "units": 2,
             "loss": "negative_log_likelihood"}]})",
                                      "'net'"),
                {}, 4, "cpu", threads) {
    for (float& x : features.as<float>()) x = 1;
    for (float& x : mask.as<float>()) x = 1;
    labels.as<std::int32_t>()[0] = 1;
    CHECK(train().fault.empty());
  }
  dl::nn::Batch batch() const { return {&features, &labels, &mask}; }
  Replica::Step train() { return replica.train(batch(), {1, 0, 1}); }
  Replica::Step compute() { return replica.compute(batch(), {1, 0, 1}); }

  Replica replica;
  Tensor features{DType::kF32, {4, 2}}, labels{DType::kI32, {4}},
      mask{DType::kF32, {4}};
};

}  // namespace

TEST_CASE("a fault found before the updater leaves everything as it was") {
  Plant plant(GENERATE(1, 2));
  const bool loss = GENERATE(true, false), train = GENERATE(true, false);
  const Floats parameters = plant.replica.parameters(),
               state = plant.replica.updater_state();
  std::string want;
  if (loss) {
    plant.features.as<float>()[3] = NAN;
    want = "the loss is not finite";
  } else {
    // Each example's part is finite, the weighted product is not.
    for (float& x : plant.features.as<float>()) x = 3e34F;
    plant.replica.set_parameters(Floats(parameters.size(), 0.0F));
    for (float& x : plant.mask.as<float>()) x = 1e6F;
    want = "the gradient is not finite";
  }
  const Floats before = plant.replica.parameters();
  const Replica::Step step = train ? plant.train() : plant.compute();
  CHECK(step.fault == want);
  CHECK(!step.updater_afresh);
  CHECK(plant.replica.parameters() == before);
  CHECK(plant.replica.updater_state() == state);
}

TEST_CASE("a loss out of all proportion is a fault") {
  Plant plant(GENERATE(1, 2));
  for (float& x : plant.features.as<float>()) x = 1e30F;
  const Floats before = plant.replica.parameters();
  CHECK(before != Floats(before.size(), 0.0F));
  const bool train = GENERATE(true, false);
  const Replica::Step step = train ? plant.train() : plant.compute();
  CHECK_THAT(step.fault, Catch::Contains("is out of all proportion: a constant "
                                         "prediction has 0.693"));
  CHECK(!step.updater_afresh);
  CHECK(plant.replica.parameters() == before);
}

TEST_CASE("an overflowing updater starts afresh, and no parameter is of use") {
  Plant plant(GENERATE(1, 2));
  const bool train = GENERATE(true, false);
  const Floats parameters = plant.replica.parameters();
  const Floats zeros(parameters.size(), 0.0F);
  const Floats used = plant.replica.updater_state();
  plant.replica.set_parameters(zeros);
  for (float& x : plant.features.as<float>()) x = 1e30F;  // squares overflow
  const Replica::Step step = train ? plant.train() : plant.compute();
  CHECK(step.fault == "the update is not finite");
  CHECK(step.updater_afresh);
  const Floats state = plant.replica.updater_state();
  CHECK(state == Floats(state.size(), state[0]));
  CHECK(state != used);
  if (train) {
    CHECK_THROWS_AS(plant.replica.parameters(), dl::Error);
    CHECK_THROWS_AS(plant.compute(), dl::Error);
    CHECK_THROWS_AS(plant.train(), dl::Error);
    plant.replica.set_parameters(zeros);
  }
  CHECK(plant.replica.parameters() == zeros);
  for (float& x : plant.features.as<float>()) x = 1;
  CHECK(plant.train().fault.empty());
  CHECK(plant.replica.parameters() != zeros);
}

TEST_CASE("statistics are as before a fault") {
  Replica replica(dl::nn::parse_network(R"({"input": {"shape": [2]}, "layers": [
        {"type": "batch_norm"}, {"type": "output", "units": 2,
         "loss": "negative_log_likelihood"}]})",
                                        "'net'"),
                  {}, 4, "cpu", 2);
  Tensor features(DType::kF32, {4, 2}), labels(DType::kI32, {4});
  for (std::size_t i = 0; i < 8; ++i)
    features.as<float>()[i] = static_cast<float>(i);
  CHECK(replica.train({&features, &labels, nullptr}, {}).fault.empty());
  const Floats before = replica.statistics();
  features.as<float>()[5] = NAN;
  CHECK_FALSE(replica.train({&features, &labels, nullptr}, {}).fault.empty());
  CHECK(replica.statistics() == before);
}

TEST_CASE("training is computing and subtracting") {
  Plant trained(2), computed(2);
  Floats want = computed.replica.parameters();
  CHECK(trained.train().loss == computed.compute().loss);
  const auto update = computed.replica.update();
  for (std::size_t i = 0; i < want.size(); ++i) want[i] -= update[i];
  CHECK(trained.replica.parameters() == want);
  CHECK(trained.replica.updater_state() == computed.replica.updater_state());
}

TEST_CASE("the update is shown while it is written, unless it is not finite") {
  const int threads = GENERATE(1, 2);
  Plant plant(threads), shown(threads);
  CHECK(plant.compute().fault.empty());
  Floats seen(plant.replica.update().size(), NAN);
  std::mutex mutex;
  const auto look = [&](std::size_t at, std::span<const float> piece) {
    const std::lock_guard lock(mutex);
    std::ranges::copy(piece, seen.begin() + static_cast<std::ptrdiff_t>(at));
  };
  CHECK(shown.replica.compute(shown.batch(), {1, 0, 1}, look).fault.empty());
  CHECK(std::ranges::equal(seen, plant.replica.update()));

  for (float& x : shown.features.as<float>()) x = 1e30F;  // squares overflow
  shown.replica.set_parameters(Floats(seen.size(), 0.0F));
  std::ranges::fill(seen, 0.0F);
  CHECK(shown.replica.compute(shown.batch(), {1, 0, 1}, look).fault ==
        "the update is not finite");
  CHECK(std::ranges::all_of(seen, [](float x) { return std::isfinite(x); }));
}

namespace {

// Sequences of 5 steps in segments of 2.
struct Recurrent {
  explicit Recurrent(int threads)
      : replica(dl::nn::parse_network(R"({"input": {"shape": [5, 1]},
            "seed": 3, "tbptt_length": 2, "tbptt_update": true,
            "updater": {"type": "adam"}, "layers": [
            {"type": "simple_rnn", "units": 3, "return_sequences": true},
            {"type": "output", "units": 2,
             "loss": "negative_log_likelihood"}]})",
                                      "'net'"),
                {}, 4, "cpu", threads) {
    for (std::size_t i = 0; i < 20; ++i) {
      features.as<float>()[i] = static_cast<float>(i % 7) - 3;
      labels.as<std::int32_t>()[i] = i % 3 == 0;
    }
  }
  dl::nn::Batch batch() const { return {&features, &labels}; }

  Replica replica;
  Tensor features{DType::kF32, {4, 5, 1}}, labels{DType::kI32, {4, 5}};
};

}  // namespace

TEST_CASE("segments each have an update, and together one to be shared") {
  const int threads = GENERATE(1, 2);
  Recurrent trained(threads), computed(threads);
  const Floats start = trained.replica.parameters();
  for (std::int64_t step = 0; step < 3; ++step) {
    const dl::nn::Position at{step, 0, static_cast<std::uint64_t>(step)};
    const Floats before = trained.replica.parameters();
    const auto one = trained.replica.train(trained.batch(), at);
    const Floats after = trained.replica.parameters();
    CHECK(one.fault.empty());
    CHECK(before != after);

    Floats shown(start.size());
    const auto other = computed.replica.compute(
        computed.batch(), at,
        [&](std::size_t from, std::span<const float> piece) {
          std::ranges::copy(piece,
                            shown.begin() + static_cast<std::ptrdiff_t>(from));
        });
    CHECK(other.loss == one.loss);
    CHECK(computed.replica.parameters() == before);
    const auto update = computed.replica.update();
    for (std::size_t i = 0; i < start.size(); ++i) {
      REQUIRE(update[i] == before[i] - after[i]);
      REQUIRE(shown[i] == update[i]);
    }
    computed.replica.set_parameters(after);
    CHECK(computed.replica.updater_state() == trained.replica.updater_state());
  }
  // Adam moves by at most its rate a segment, and does by nearly that at first.
  double most = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    most = std::max(
        most, std::abs(double{start[i]} - trained.replica.parameters()[i]));
  CHECK(most > 3 * 1.5e-3);
}

TEST_CASE("a fault in a later segment leaves nothing of the mini-batch") {
  Recurrent r(1);
  const Floats before = r.replica.parameters();
  r.features.as<float>()[3] = NAN;  // in the second segment
  const auto computed = r.replica.compute(r.batch(), {0, 0, 1});
  CHECK(computed.fault == "the loss is not finite");
  CHECK(r.replica.parameters() == before);
  const auto trained = r.replica.train(r.batch(), {0, 0, 1});
  CHECK(trained.fault == "the loss is not finite");
  CHECK_THROWS_AS(r.replica.train(r.batch(), {0, 0, 1}), dl::Error);
  r.replica.set_parameters(before);
  r.features.as<float>()[3] = 0;
  CHECK(r.replica.train(r.batch(), {0, 0, 1}).fault.empty());
}

TEST_CASE("each tensor has the learning rate of its updater") {
  const Replica replica(dl::nn::parse_network(R"({"input": {"shape": [2]},
          "updater": {"type": "sgd", "learning_rate":
            {"schedule": "step", "initial": 1, "decay": 0.5, "every": 10}},
          "layers": [
          {"type": "dense", "units": 3},
          {"type": "dense", "units": 3,
           "bias_updater": {"type": "sgd", "learning_rate": 0.25}},
          {"type": "output", "units": 2, "frozen": true,
           "loss": "negative_log_likelihood"}]})",
                                              "'net'"),
                        {}, 4, "cpu", 1);
  CHECK(replica.learning_rates({.iteration = 25}) ==
        std::vector<double>{0.25, 0.25, 0.25, 0.25, 0, 0});
  CHECK(replica.learning_rates({.iteration = 0})[2] == 1);
}

TEST_CASE("a gradient stays while statistics are looked at") {
  const std::string device = GENERATE("cpu", "reference");
  Replica replica(dl::nn::parse_network(R"({"input": {"shape": [2]}, "layers": [
        {"type": "dense", "units": 3}, {"type": "batch_norm"},
        {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]})",
                                        "'net'"),
                  {}, 4, device, 1);
  Tensor features{DType::kF32, {4, 2}}, labels{DType::kI32, {4}};
  for (std::size_t i = 0; i < 8; ++i)
    features.as<float>()[i] = 0.5F * static_cast<float>(i % 3);
  labels.as<std::int32_t>()[0] = 1;
  const auto gradient = [&](bool look) {
    Floats all(replica.parameters().size());
    const auto step = replica.gradient(
        {&features, &labels, nullptr}, {},
        [&](double, std::size_t from, std::span<const float> found) {
          if (look) CHECK(replica.statistics().size() == 6);
          std::ranges::copy(found, all.begin() + std::ptrdiff_t(from));
        });
    CHECK(step.fault.empty());
    return all;
  };
  CHECK(gradient(true) == gradient(false));
}

}  // namespace dl::cluster::replica_test
