// Large layers that lanes compute jointly.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libcore/nn/plan/plan.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::joint_test {
namespace {

using testing::compile;
using testing::random_examples;
using testing::sequence;
using testing::Tensor;
using testing::values;

const std::string kAdam = R"(, "updater": {"type": "adam"})";

std::string dense(int units, const std::string& more = "") {
  return R"({"type": "dense", "units": )" + std::to_string(units) + more +
         "}, ";
}
std::string output(int units, const std::string& more = "") {
  return R"({"type": "output", "units": )" + std::to_string(units) +
         R"(, "loss": "mean_squared_error")" + more + "}";
}

// Parameters after some steps, with mini-batches of n, n - 1, ... examples.
std::vector<double> trained(const NetworkConfig& config,
                            const std::string& device, int lanes,
                            std::int64_t n) {
  Network network = compile(config, n, device, lanes);
  for (int i = 0; i < 3; ++i) {
    const auto data =
        random_examples(config, n - i % n, static_cast<std::uint64_t>(i));
    testing::train(network, data.batch(), i);
  }
  return values(network, network.parameters());
}

TEST_CASE("layers that are joint come to the same bits with any lanes",
          "[joint]") {
  const std::string layers = GENERATE(
      // Units that do not divide.
      as<std::string>{},
      dense(1001, R"(, "activation": "tanh")") +
          dense(300, R"(, "bias": false)") + output(1000),
      dense(1100, R"(, "frozen": true)") + dense(333) +
          output(900, R"(, "activation": "sigmoid")"),
      R"({"type": "dropout", "rate": 0.5}, )" + dense(1001) +
          R"({"type": "output", "units": 200, "loss": "gaussian"})");
  const NetworkConfig config = sequence("[300]", layers, kAdam);
  const std::int64_t n = GENERATE(1, 4);
  const auto alone = trained(config, "cpu", 1, n);
  for (const int lanes : {2, 3, 5}) {
    INFO(layers << ", " << n << " examples, " << lanes << " lanes");
    CHECK(trained(config, "cpu", lanes, n) == alone);
  }
}

TEST_CASE("a network in training predicts, whatever lanes do jointly",
          "[joint]") {
  const NetworkConfig config =
      sequence("[300]", dense(1001) + output(1000), kAdam);
  const auto predicted = [&](int lanes, std::int64_t examples) {
    Network network = compile(config, 4, "cpu", lanes);
    Tensor outputs;
    network.predict(random_examples(config, examples, 1).features, outputs);
    const auto all = outputs.as<float>();
    return std::vector<float>(all.begin(), all.end());
  };
  for (const std::int64_t examples : {1, 4, 11})
    CHECK(predicted(3, examples) == predicted(1, examples));
}

TEST_CASE("joint layers among others agree with the reference", "[joint]") {
  const std::string layers =
      GENERATE(as<std::string>{},
               R"({"type": "lstm", "units": 20, "return_sequences": true},
         {"type": "dense", "units": 600, "activation": "relu"},
         {"type": "dense", "units": 500, "activation": "tanh"},
         {"type": "lstm", "units": 9}, )" +
                   output(3),
               R"({"type": "dense", "units": 600, "time_distributed": true},
         {"type": "batch_norm"},
         {"type": "dense", "units": 500},
         {"type": "flatten"}, )" +
                   output(3));
  const NetworkConfig config =
      sequence("[4, 450]", layers,
               R"(, "updater": {"type": "sgd", "learning_rate": 0.001},
         "gradient_normalization": "clip_l2_per_layer")");
  const auto want = trained(config, "reference", 1, 3);
  for (const int lanes : {1, 2, 4}) {
    INFO(layers << ", " << lanes << " lanes");
    CHECK(testing::distance(trained(config, "cpu", lanes, 3), want) <= 1e-5);
    CHECK(testing::distance(trained(config, "reference", lanes, 3), want) <=
          1e-12);
  }
}

std::vector<bool> joint_of(const std::string& layers, Division division,
                           const std::string& shape = "[512]") {
  const NetworkConfig config = sequence(shape, layers);
  std::vector<bool> joint;
  for (const PlannedLayer& step :
       plan_of(config, layout_of(config), true, division).steps)
    joint.push_back(step.joint);
  return joint;
}

TEST_CASE("which layers are joint", "[joint]") {
  using Joint = std::vector<bool>;
  const std::string two = dense(512) + output(511);
  CHECK(joint_of(two, {2, 64}) == Joint{true, false});
  CHECK(joint_of(two, {1, 64}) == Joint{false, false});
  // Many rows are better divided.
  CHECK(joint_of(two, {2, 513}) == Joint{false, false});
  CHECK(joint_of(two, {4, 513}) == Joint{true, false});
  CHECK(joint_of(dense(512, R"(, "time_distributed": true)") + output(3),
                 {2, 64}, "[9, 512]") == Joint{false, false});
  // Layers whose weight others use or disturb as well.
  CHECK(joint_of(dense(512, R"(, "weight_noise": {"drop_connect": 0.5})") +
                     output(512),
                 {2, 1}) == Joint{false, true});
  CHECK(joint_of(R"({"type": "dense", "units": 512, "name": "code"},
                    {"type": "output", "units": 512, "tied_to": "code",
                     "loss": "mean_squared_error"})",
                 {2, 1}) == Joint{false, false});
}

TEST_CASE("there is one gradient of a joint layer", "[joint]") {
  const NetworkConfig config =
      sequence("[512]", dense(512) + dense(100) + output(512));
  const auto bytes = [&](int lanes) {
    return static_cast<std::int64_t>(
        compile(config, 8, "cpu", lanes).memory_bytes());
  };
  constexpr std::int64_t kLarge = 512 * 513, kSmall = 100 * 513 + 512 * 101,
                         kFloat = sizeof(float);
  // Beside it, values and gradients of examples.
  CHECK(bytes(5) - bytes(1) >= 4 * kSmall * kFloat);
  CHECK(bytes(5) - bytes(1) < (4 * kSmall + kLarge) * kFloat);
}

}  // namespace
}  // namespace dl::nn::joint_test
