// Few examples: the threads of idle lanes compute parts of each layer.

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/philox.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::spread_test {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using testing::compile;
using testing::sequence;

Tensor drawn(Shape shape) {
  Tensor features(DType::kF32, shape);
  Philox random(1, 1);
  for (float& f : features.as<float>()) f = static_cast<float>(random.normal());
  return features;
}

std::vector<float> predicted(Network& network, const Tensor& features) {
  Tensor outputs;
  network.predict(features, outputs);
  const auto floats = outputs.as<float>();
  return {floats.begin(), floats.end()};
}

// Large enough for it to be worthwhile; rows and units that do not divide.
const std::vector<std::pair<std::string, std::string>> kNetworks = {
    {"[70]",
     R"({"type": "dense", "units": 1001, "activation": "relu"},
        {"type": "dense", "units": 333, "activation": "tanh"},
        {"type": "output", "units": 3, "loss": "mean_squared_error"})"},
    {"[31, 29, 16]",
     R"({"type": "conv2d", "filters": 33, "kernel": [4, 4], "padding": "same",
         "activation": "relu"},
        {"type": "conv2d", "filters": 16, "kernel": [5, 3], "stride": [3, 2]},
        {"type": "conv2d", "filters": 24, "kernel": [3, 3],
         "dilation": [2, 1], "padding": "same", "activation": "elu"},
        {"type": "output", "units": 3, "loss": "mean_squared_error"})"},
    {"[17, 23, 16]",
     R"({"type": "conv2d", "filters": 48, "kernel": [3, 3], "padding": "same",
         "activation": "relu"},
        {"type": "conv2d", "filters": 32, "kernel": [3, 3],
         "activation": "relu"},
        {"type": "max_pool2d", "kernel": [2, 2]},
        {"type": "output", "units": 3, "loss": "mean_squared_error"})"},
    {"[9, 120]",
     R"({"type": "lstm", "units": 250, "return_sequences": true},
        {"type": "gru", "units": 201},
        {"type": "output", "units": 3, "loss": "mean_squared_error"})"}};

TEST_CASE("few examples come to the same with any number of threads",
          "[spread]") {
  for (const auto& [shape, layers] : kNetworks) {
    INFO(layers);
    const NetworkConfig config = sequence(shape, layers);
    Network alone = compile(config, 4, "cpu", 1, false);
    alone.initialise();
    for (const int lanes : {2, 3, 5}) {
      Network network = compile(config, 4, "cpu", lanes, false);
      network.initialise();
      for (const std::int64_t n : {1, 1, 4, 1, 2, 1}) {
        INFO(lanes << " lanes, " << n << " examples");
        const Tensor features =
            drawn(alone.config().inputs[0].shape.with_first(n));
        CHECK(predicted(network, features) == predicted(alone, features));
      }
    }
  }
}

}  // namespace
}  // namespace dl::nn::spread_test
