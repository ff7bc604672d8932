// The work of a worker beside computing, without a master.

#include "libcore/cluster/worker/rehearsal.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>

#include "libcore/base/error.h"
#include "libcore/tensor/tensor.h"

namespace dl::cluster::rehearsal_test {

using dl::tensor::DType;
using dl::tensor::Tensor;

namespace {

// Two classes from two numbers; after a mini-batch whose update it has.
struct Plant {
  Plant() {
    for (float& x : features.as<float>()) x = 1;
    for (float& x : mask.as<float>()) x = 1;
    labels.as<std::int32_t>()[0] = 1;
    compute();
  }
  dl::nn::Batch batch() const { return {&features, &labels, &mask}; }
  void compute() { REQUIRE(replica.compute(batch(), {0, 0, 1}).fault.empty()); }

  const dl::nn::NetworkConfig network = dl::nn::parse_network(
      R"({"input": {"shape": [2]}, "updater": {"type": "adagrad"}, "layers": [
          {"type": "output", "units": 2,
           "loss": "negative_log_likelihood"}]})",
      "'net'");
  Replica replica{network, {}, 4, "cpu", 1};
  Tensor features{DType::kF32, {4, 2}}, labels{DType::kI32, {4}},
      mask{DType::kF32, {4}};
};

RoundRehearsed round_of(Replica& replica, UpdaterState state,
                        const char* delta) {
  AveragingSettings settings;
  settings.updater_state = state;
  settings.delta = dl::exchange::DeltaFormat::parse(delta);
  return rehearse_round(replica, settings, 0);
}

}  // namespace

TEST_CASE("a rehearsed round sends what a replica would") {
  Plant plant;
  const auto reals = static_cast<std::int64_t>(
      sizeof(float) * plant.replica.parameters().size());
  const RoundRehearsed reset =
      round_of(plant.replica, UpdaterState::kReset, "f32");
  const RoundRehearsed average =
      round_of(plant.replica, UpdaterState::kAverage, "f32");
  CHECK(reset.bytes >= reals);
  CHECK(average.bytes == reset.bytes + reals);  // adagrad has one for each
  CHECK(round_of(plant.replica, UpdaterState::kKeep, "f16").bytes <
        reset.bytes);
  CHECK(average.seconds > 0);
  plant.replica.set_parameters(
      std::vector<float>(plant.replica.parameters().size(), NAN));
  CHECK_THROWS_AS(round_of(plant.replica, UpdaterState::kReset, "f32"),
                  dl::Error);
}

TEST_CASE("a rehearsed step of sync takes what comes back") {
  for (const bool alone : {true, false}) {
    CAPTURE(alone);
    Plant plant;
    std::deque<std::vector<std::byte>> echoes;
    std::size_t unanswered = 0;
    SyncRehearsal rehearsal(plant.replica, plant.network, 1, alone,
                            [&](std::vector<std::byte> piece, bool answer) {
                              if (answer)
                                echoes.push_back(std::move(piece));
                              else
                                ++unanswered;
                            });
    const std::vector<float> before = plant.replica.parameters();
    const auto step = [&](std::int64_t i) {
      const std::size_t wanted = rehearsal.compute(plant.batch(), {i, 0, 1});
      REQUIRE(wanted > 0);
      REQUIRE(wanted == echoes.size());
      while (!echoes.empty()) {
        CHECK(plant.replica.parameters() == before);
        rehearsal.take(std::move(echoes.front()));
        echoes.pop_front();
      }
    };
    step(0);
    CHECK((unanswered > 0) == !alone);
    CHECK(plant.replica.parameters() != before);
    rehearsal.compute(plant.batch(), {1, 0, 1});
    CHECK_THROWS_AS(rehearsal.take({}), dl::Error);
    plant.replica.set_parameters(std::vector<float>(before.size(), NAN));
    CHECK_THROWS_AS(rehearsal.compute(plant.batch(), {2, 0, 1}), dl::Error);
  }
}

TEST_CASE("a pair's step of sync is that of one alone") {
  std::vector<float> found[2];
  for (const bool alone : {true, false}) {
    Plant plant;
    std::deque<std::vector<std::byte>> echoes;
    SyncRehearsal rehearsal(plant.replica, plant.network, 1, alone,
                            [&](std::vector<std::byte> piece, bool answer) {
                              if (answer) echoes.push_back(std::move(piece));
                            });
    for (std::int64_t i = 0; i < 3; ++i) {
      rehearsal.compute(plant.batch(), {i, 0, 1});
      for (; !echoes.empty(); echoes.pop_front())
        rehearsal.take(std::move(echoes.front()));
    }
    found[alone ? 0 : 1] = plant.replica.parameters();
  }
  CHECK(found[0] == found[1]);  // the mean of two alike
}

TEST_CASE("rehearsed sharing codes each update and applies it") {
  Plant plant;
  SharingRehearsal rehearsal(plant.replica, {}, 1);
  for (int i = 0; i < 3; ++i) {
    rehearsal.begin();
    plant.compute();
    rehearsal.run(plant.replica.update());
  }
  CHECK(rehearsal.encode.size() == 3);
  CHECK(rehearsal.decode.size() == 3);
  CHECK(rehearsal.bytes() > 0);
}

}  // namespace dl::cluster::rehearsal_test
