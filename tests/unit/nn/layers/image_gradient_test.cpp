// Gradients of layers over series, images and volumes, against finite
// differences.

#include <catch2/catch.hpp>

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::image_gradient_test {
namespace {

using testing::sequence;

// masked: an input that is a sequence has examples of every length.
void check(const std::string& shape, const std::string& layers,
           bool masked = false) {
  const NetworkConfig config =
      sequence(shape, layers + R"(, {"type": "output", "units": 3,
                                     "loss": "negative_log_likelihood"})");
  INFO(dump_json(config.source));
  constexpr std::int64_t kExamples = 4;
  Network network = testing::compile(config, kExamples);
  testing::stir(network);
  testing::Examples data = testing::random_examples(config, kExamples);
  if (masked)
    data.features_mask =
        testing::lengths_mask(kExamples, config.inputs[0].shape[0]);
  const auto loss = [&] {
    return network.compute_gradient(data.batch(), {3, 0, 5});
  };
  CHECK(loss() != 0);
  const auto gradient = testing::values(network, network.update());
  CHECK(testing::gradient_error(network, gradient, 40, loss) <=
        testing::kTolerance);
}

// A first layer that makes the gradient of the tested layer's input count.
const std::string kConv2d = R"({"type": "conv2d", "filters": 3,
    "kernel": [2, 2], "padding": "same", "activation": "tanh"}, )";
const std::string kConv3d = R"({"type": "conv3d", "filters": 2,
    "kernel": [2, 2, 2], "padding": "same", "activation": "tanh"}, )";
const std::string kDense =
    R"({"type": "dense", "units": 4, "activation": "tanh"}, )";

std::string layer(const std::string& type, const std::string& keys) {
  return R"({"type": ")" + type + '"' + (keys.empty() ? "" : ", ") + keys + "}";
}

}  // namespace

TEST_CASE("gradients of global pooling", "[gradient]") {
  const std::string keys = GENERATE(
      as<std::string>{}, "", R"("kind": "average")", R"("kind": "sum")",
      R"("kind": "pnorm")", R"("kind": "pnorm", "p": 3.5)");
  check("[4, 3, 2]", kConv2d + layer("global_pool", keys));
  check("[2, 3, 2, 2]", kConv3d + layer("global_pool", keys));
  check("[5, 3]", kDense + layer("global_pool", keys));
  check("[5, 3]", kDense + layer("global_pool", keys), true);
}

TEST_CASE("gradients of depthwise and separable convolution", "[gradient]") {
  const std::string type =
      GENERATE(as<std::string>{}, "depthwise_conv2d",
               R"(separable_conv2d", "filters": 4, "padding": "valid)");
  const std::string keys = GENERATE(
      as<std::string>{}, R"("kernel": [2, 3])",
      R"("kernel": [2, 2], "depth_multiplier": 3, "activation": "tanh")",
      R"("kernel": [3, 2], "stride": [2, 1], "bias": false)",
      R"("kernel": [2, 2], "dilation": [2, 1], "activation": "gelu")");
  check("[5, 4, 2]", layer(type, keys));
  check("[5, 4, 2]", kConv2d + layer(type, keys));
  if (type == "depthwise_conv2d")
    check("[5, 4, 2]", kConv2d + layer(type, keys + R"(, "padding": "same")"));
}

TEST_CASE("gradients of conv3d", "[gradient]") {
  const std::string keys = GENERATE(
      as<std::string>{}, R"("kernel": [2, 2, 2])",
      R"("kernel": [1, 2, 3], "padding": "same", "activation": "tanh")",
      R"("kernel": [2, 1, 2], "stride": [1, 2, 1], "dilation": [2, 1, 2])");
  check("[3, 3, 4, 2]", layer("conv3d", R"("filters": 3, )" + keys));
  check("[3, 3, 4, 2]", kConv3d + layer("conv3d", R"("filters": 3, )" + keys));
}

TEST_CASE("gradients through every kind of pooling", "[gradient]") {
  const std::string kind =
      GENERATE(as<std::string>{}, R"(pnorm_pool2d", "p": 3, "kernel": [2, 2)",
               R"(average_pool2d", "count_padding": true, "kernel": [2, 2)",
               R"(average_pool2d", "kernel": [2, 2)",
               R"(max_pool3d", "kernel": [2, 2, 2)",
               R"(average_pool3d", "count_padding": true, "kernel": [2, 2, 2)",
               R"(average_pool3d", "kernel": [2, 2, 2)");
  const std::string padding = GENERATE(as<std::string>{}, "valid", "same");
  const bool volumes = kind.find("3d") != std::string::npos;
  const std::string pool =
      R"({"type": ")" + kind + R"(], "padding": ")" + padding + R"("})";
  check(volumes ? "[3, 3, 5, 2]" : "[5, 3, 2]",
        (volumes ? kConv3d : kConv2d) + pool);
}

TEST_CASE("gradients of local response normalization", "[gradient]") {
  const std::string keys =
      GENERATE(as<std::string>{}, R"("alpha": 0.5)",
               R"("window": 3, "k": 0.5, "alpha": 0.3, "beta": 1.5)");
  check("[3, 2, 2]", kConv2d + layer("local_response_norm", keys));
}

TEST_CASE("gradients of conv2d_transpose", "[gradient]") {
  const std::string keys =
      GENERATE(as<std::string>{}, R"("kernel": [2, 3])",
               R"("kernel": [2, 2], "stride": [2, 3], "activation": "gelu")",
               R"("kernel": [3, 2], "stride": [2, 1], "padding": "same",
         "bias": false, "activation": "tanh")",
               R"("kernel": [2, 3], "dilation": [2, 1], "padding": "same")");
  const std::string it = layer("conv2d_transpose", R"("filters": 4, )" + keys);
  check("[3, 2, 2]", it);
  check("[3, 2, 2]", kConv2d + it);
}

TEST_CASE("gradients of layers that move pixels", "[gradient]") {
  const std::string it =
      GENERATE(as<std::string>{}, R"(upsample2d", "size": [2, 3)",
               R"(upsample2d", "interpolation": "bilinear", "size": [3, 2)",
               R"(zero_pad2d", "padding": [1, 0, 2, 3)",
               R"(crop2d", "cropping": [1, 2, 0, 1)",
               R"(crop2d", "cropping": [0, 1, 2, 0)");
  check("[4, 4, 2]", kConv2d + R"({"type": ")" + it + "]}");
  check("[4, 6, 2]", kConv2d + layer("space_to_depth", ""));
  check("[3, 6, 2]", kConv2d + layer("space_to_depth", R"("block": 3)"));
}

TEST_CASE("gradients of layers over series, with masks and without",
          "[gradient]") {
  const std::string it = GENERATE(
      as<std::string>{}, R"(conv1d", "filters": 3, "kernel": 3, "bias": true)",
      R"(conv1d", "filters": 2, "kernel": 2, "stride": 2, "activation": "tanh")",
      R"(conv1d", "filters": 2, "kernel": 3, "padding": "causal")",
      R"(conv1d", "filters": 2, "kernel": 2, "padding": "causal",
         "dilation": 2, "stride": 2)",
      R"(conv1d", "filters": 2, "kernel": 2, "padding": "same")",
      R"(max_pool1d", "kernel": 2)",
      R"(max_pool1d", "kernel": 3, "stride": 1, "padding": "same")",
      R"(average_pool1d", "kernel": 2)",
      R"(average_pool1d", "kernel": 3, "stride": 2, "padding": "same")",
      R"(upsample1d", "size": 2)", R"(zero_pad1d", "padding": [2, 1])",
      R"(crop1d", "cropping": [0, 2])", R"(crop1d", "cropping": [1, 1])");
  const std::string one = R"({"type": ")" + it + "}";
  for (const bool masked : {false, true}) {
    check("[5, 3]", kDense + one, masked);  // a loss at each step
    check("[5, 3]", kDense + one + ", " + layer("global_pool", ""), masked);
  }
}

TEST_CASE("what a mask leaves out of a series changes nothing") {
  const std::string it =
      GENERATE(as<std::string>{}, R"(conv1d", "filters": 3, "kernel": 3)",
               R"(conv1d", "filters": 3, "kernel": 3, "padding": "same")",
               R"(max_pool1d", "kernel": 2)",
               R"(max_pool1d", "kernel": 3, "stride": 1, "padding": "same")",
               R"(average_pool1d", "kernel": 3, "stride": 2)",
               R"(upsample1d", "size": 3)", R"(crop1d", "cropping": [0, 1])");
  CAPTURE(it);
  const NetworkConfig config = sequence("[5, 3]", R"({"type": ")" + it + R"(},
          {"type": "global_pool", "kind": "average"},
          {"type": "output", "units": 3, "loss": "negative_log_likelihood"})");
  testing::Examples data = testing::random_examples(config, 5);
  const testing::Tensor mask = testing::lengths_mask(5, 5);
  Network network = testing::compile(config, 5);
  testing::Tensor before, after;
  network.predict(data.features, before, &mask);
  for (std::int64_t i = 0; i < 5 * 5 * 3; ++i)
    if (mask.as<std::uint8_t>()[static_cast<std::size_t>(i / 3)] == 0)
      data.features.as<double>()[static_cast<std::size_t>(i)] = 50;
  network.predict(data.features, after, &mask);
  CHECK(std::ranges::equal(before.as<float>(), after.as<float>()));
}

}  // namespace dl::nn::image_gradient_test
