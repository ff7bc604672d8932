// Weights held as bfloat16: what comes out is what float32 makes of the rounded
// weights, to the bit.

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/device/open.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::precision_test {
namespace {

using device::Precision;
using tensor::DType;
using tensor::Tensor;
using testing::sequence;

float rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

Network compile(const NetworkConfig& config, Precision precision, int lanes) {
  return Network(
      config, data::Normalizers(), 64,
      device::open_lanes("cpu", lanes, precision, device::Use::kPrediction),
      false);
}

// Drawn; with `round`, matrices of more than one row are rounded to bfloat16,
// which biases are not.
void fill(Network& network, bool round) {
  Tensor all(DType::kF32, network.parameters().shape);
  Philox random(7, 1);
  for (float& value : all.as<float>())
    value = 0.1f * static_cast<float>(random.normal());
  for (const Segment& segment : network.parameter_segments())
    if (round && segment.shape.rank() == 2)
      for (std::int64_t i = 0; i < segment.elements(); ++i) {
        float& value =
            all.as<float>()[static_cast<std::size_t>(segment.offset + i)];
        value = rounded(value);
      }
  network.device().upload(network.parameters(), all);
  network.freeze();
}

std::vector<float> predicted(Network& network, const Tensor& features) {
  Tensor outputs;
  network.predict(features, outputs);
  const auto floats = outputs.as<float>();
  return {floats.begin(), floats.end()};
}

const std::vector<std::pair<std::string, std::string>> kNetworks = {
    {"[300]",
     R"({"type": "dense", "units": 1001, "activation": "relu"},
        {"type": "dense", "units": 33, "activation": "tanh"},
        {"type": "output", "units": 3, "loss": "mean_squared_error"})"},
    {"[5, 20]",
     R"({"type": "lstm", "units": 50, "return_sequences": true},
        {"type": "gru", "units": 41, "return_sequences": true},
        {"type": "gru", "units": 10, "reset_before": true,
         "return_sequences": true},
        {"type": "multi_head_attention", "heads": 2, "head_size": 7},
        {"type": "simple_rnn", "units": 9},
        {"type": "output", "units": 3, "loss": "mean_squared_error"})"}};

TEST_CASE("weights in bfloat16 are rounded, and nothing else is") {
  for (const auto& [shape, layers] : kNetworks) {
    INFO(layers);
    const NetworkConfig config = sequence(shape, layers);
    Network exact = compile(config, Precision::kFloat32, 1),
            want = compile(config, Precision::kFloat32, 1);
    fill(exact, false);
    fill(want, true);
    for (const int lanes : {1, 2, 3}) {
      Network network = compile(config, Precision::kBfloat16, lanes);
      fill(network, false);
      // Also the first time, and where few rows read weights as they lie.
      for (const std::int64_t n : {1, 2, 64, 7, 31, 1}) {
        INFO(lanes << " lanes, " << n << " examples");
        Tensor features(DType::kF32, config.inputs[0].shape.with_first(n));
        Philox random(static_cast<std::uint64_t>(n), 1);
        for (float& f : features.as<float>())
          f = static_cast<float>(random.normal());
        const auto got = predicted(network, features);
        CHECK(got == predicted(want, features));
        CHECK(got != predicted(exact, features));
      }
    }
  }
}

}  // namespace
}  // namespace dl::nn::precision_test
