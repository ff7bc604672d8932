// Networks prepared for prediction against the same as they were.

#include <catch2/catch.hpp>

#include "tests/unit/nn/support.h"

namespace dl::nn::testing::freeze_test {
namespace {

// Networks that can be folded, and that cannot: behind the input, another batch
// normalization, an activation or pooling.
const char* const kNetworks[] = {
    R"({"type": "conv2d", "filters": 5, "kernel": [3, 3]},
       {"type": "batch_norm"}, {"type": "activation", "activation": "relu"},
       {"type": "conv2d", "filters": 4, "kernel": [2, 2], "bias": false},
       {"type": "batch_norm"}, {"type": "max_pool2d"})",
    R"({"type": "batch_norm"}, {"type": "activation", "activation": "relu"},
       {"type": "conv2d", "filters": 5, "kernel": [3, 3]},
       {"type": "activation", "activation": "relu"}, {"type": "batch_norm"},
       {"type": "activation", "activation": "relu"}, {"type": "flatten"})",
    R"({"type": "batch_norm"}, {"type": "dropout", "rate": 0.5},
       {"type": "conv2d", "filters": 5, "kernel": [3, 3]},
       {"type": "batch_norm"}, {"type": "batch_norm"}, {"type": "dropout"},
       {"type": "batch_norm"}, {"type": "flatten"})",
    R"({"type": "conv2d", "filters": 5, "kernel": [3, 3],
        "activation": "gelu"},
       {"type": "batch_norm"}, {"type": "average_pool2d"},
       {"type": "batch_norm"}, {"type": "dense", "units": 7},
       {"type": "batch_norm"},
       {"type": "dense", "units": 6, "activation": "tanh"},
       {"type": "batch_norm"})",
    R"({"type": "depthwise_conv2d", "kernel": [3, 3], "depth_multiplier": 2},
       {"type": "batch_norm"}, {"type": "activation", "activation": "tanh"},
       {"type": "conv2d_transpose", "filters": 3, "kernel": [2, 2]},
       {"type": "batch_norm"}, {"type": "activation", "activation": "tanh"},
       {"type": "separable_conv2d", "filters": 3, "kernel": [2, 2]},
       {"type": "batch_norm"}, {"type": "activation", "activation": "tanh"})",
    R"({"type": "reshape", "shape": [2, 6, 3, 2]},
       {"type": "conv3d", "filters": 3, "kernel": [2, 2, 2]},
       {"type": "batch_norm"}, {"type": "activation", "activation": "tanh"},
       {"type": "reshape", "shape": [10, 3]},
       {"type": "conv1d", "filters": 3, "kernel": 3, "padding": "causal"},
       {"type": "batch_norm"}, {"type": "activation", "activation": "tanh"},
       {"type": "multi_head_attention", "heads": 2, "head_size": 3},
       {"type": "global_pool"})"};

NetworkConfig network(const std::string& layers) {
  return sequence("[6, 6, 2]", layers + R"(, {"type": "output", "units": 3,
                      "loss": "negative_log_likelihood"})");
}

// Parameters, and statistics far from where they start.
void fill(Network& network, std::uint64_t seed) {
  Philox random(seed, 1);
  auto parameters = values(network, network.parameters());
  for (double& value : parameters) value = 0.5 * random.normal();
  assign(network, network.parameters(), parameters);
  auto statistics = values(network, network.statistics());
  for (const Segment& segment : network.statistics_segments())
    for (std::int64_t i = 0; i < segment.elements(); ++i)
      statistics[static_cast<std::size_t>(segment.offset + i)] =
          segment.name.ends_with("mean") ? random.normal()
                                         : 0.1 + 2 * random.uniform();
  assign(network, network.statistics(), statistics);
}

}  // namespace

TEST_CASE("a frozen network predicts what it did before") {
  const std::string device = GENERATE("reference", "cpu");
  for (const char* layers : kNetworks) {
    CAPTURE(device, layers);
    const NetworkConfig config = network(layers);
    const Examples data = random_examples(config, 5);
    Network exact = compile(config, 5);  // for training: nothing is folded
    Network frozen = compile(config, 5, device, 2, false);
    // Again after the parameters have changed.
    for (const std::uint64_t seed : {1, 2}) {
      fill(exact, seed);
      fill(frozen, seed);
      const auto want = predict(exact, data.features);
      frozen.freeze();
      CHECK(distance(predict(frozen, data.features), want) <= 3e-6);
      CHECK(predict(frozen, data.features) == predict(frozen, data.features));
    }
  }
}

TEST_CASE("batch normalization costs nothing where it is folded") {
  const NetworkConfig with = network(kNetworks[0]);
  Network network = compile(with, 5, "reference", 1, false);
  fill(network, 3);
  network.freeze();
  const Examples data = random_examples(with, 5);
  const auto want = predict(network, data.features);
  // The running statistics are not looked at any more.
  assign(network, network.statistics(),
         std::vector<double>(values(network, network.statistics()).size(), 7));
  CHECK(predict(network, data.features) == want);
  network.freeze();
  CHECK(distance(predict(network, data.features), want) > 1e-3);
}

TEST_CASE("freezing leaves a training network as it is") {
  const NetworkConfig config = network(kNetworks[2]);
  const Examples data = random_examples(config, 5);
  Network frozen = compile(config, 5), free = compile(config, 5);
  frozen.freeze();
  for (int i = 0; i < 2; ++i)
    CHECK(train(frozen, data.batch(), i) == train(free, data.batch(), i));
}

}  // namespace dl::nn::testing::freeze_test
