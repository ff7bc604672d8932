// Shapes between layers, and the names and places of parameters.

#include "libcore/nn/layout.h"

#include <catch2/catch.hpp>
#include <set>

#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layout_test {

namespace {

using dl::nn::layers::Window;
using dl::tensor::Shape;

dl::nn::NetworkConfig network(const std::string& layers,
                              const std::string& top = "") {
  return dl::nn::parse_network(
      R"({"input": {"shape": [8, 8, 3]},)" + top + R"("layers": [)" + layers +
          R"(, {"type": "output", "units": 4, "loss": "mean_squared_error"}]})",
      "x");
}

std::string layout_error(const dl::nn::NetworkConfig& config) {
  try {
    dl::nn::layout_of(config);
  } catch (const dl::Error& e) {
    CHECK(e.code() == dl::Code::kConfig);
    return e.what();
  }
  return "fits";
}

Window window(std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
              Padding padding) {
  return {.kernel = {kernel, kernel},
          .stride = {stride, stride},
          .dilation = {dilation, dilation},
          .padding = padding};
}

}  // namespace

TEST_CASE("parameters lie one after the other, in the layers' order") {
  const auto config = network(R"(
      {"type": "conv2d", "filters": 5, "kernel": [3, 2], "stride": [2, 1],
       "name": "first"},
      {"type": "batch_norm"},
      {"type": "dropout"},
      {"type": "dense", "units": 6, "bias": false})");
  const Layout layout = dl::nn::layout_of(config);
  REQUIRE(layout.parameters.size() == 7);
  const char* names[] = {"first/weight",      "first/bias",
                         "batch_norm1/gamma", "batch_norm1/beta",
                         "dense1/weight",     "output1/weight",
                         "output1/bias"};
  const Shape shapes[] = {{5, 3, 2, 3}, {5}, {5}, {5}, {6, 105}, {4, 6}, {4}};
  const Role roles[] = {Role::kWeight, Role::kBias,   Role::kOther,
                        Role::kOther,  Role::kWeight, Role::kWeight,
                        Role::kBias};
  const std::size_t layers[] = {0, 0, 1, 1, 3, 4, 4};
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < 7; ++i) {
    const auto& segment = layout.parameters[i];
    CHECK(segment.name == names[i]);
    CHECK(segment.shape == shapes[i]);
    CHECK(segment.role == roles[i]);
    CHECK(segment.layer == layers[i]);
    CHECK(segment.offset == offset);
    offset += segment.elements();
  }
  CHECK(layout.parameter_count == offset);
  // Deeplearning4j's fans: channels * window, filters * window / strides.
  CHECK(layout.parameters[0].fan_in == 18);
  CHECK(layout.parameters[0].fan_out == 15);
  CHECK(layout.parameters[4].fan_in == 105);
  CHECK(layout.parameters[4].fan_out == 6);

  REQUIRE(layout.statistics.size() == 2);
  CHECK(layout.statistics[0].name == "batch_norm1/running_mean");
  CHECK(layout.statistics[1].name == "batch_norm1/running_variance");
  CHECK(layout.statistics[1].offset == 5);
  CHECK(layout.statistics_count == 10);

  CHECK(layout.layers[0].output.shape == Shape{3, 7, 5});
  CHECK(layout.layers[1].output.shape == Shape{3, 7, 5});
  CHECK(layout.layers[1].parameters_begin == 2);
  CHECK(layout.layers[1].parameters_end == 4);
  CHECK(layout.layers[1].statistics_end == 2);
  CHECK(layout.layers[2].parameters_begin == 4);
  CHECK(layout.layers[2].parameters_end == 4);
  CHECK(layout.layers[3].inputs[0].shape == Shape{3, 7, 5});
  CHECK(layout.layers[3].output.shape == Shape{6});
  CHECK(layout.layers[0].flops == 105.0 * (2 * 18 + 1));
  CHECK(layout.layers[3].flops == 2.0 * 105 * 6);

  const auto rows = dl::nn::summarise(config, layout);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].name == "first");
  CHECK(rows[0].type == "conv2d");
  CHECK(rows[0].parameters == 95);
  CHECK(rows[2].parameters == 0);
}

TEST_CASE("updater state covers runs of parameters that share an updater") {
  const std::string sgd = R"({"type": "sgd"})";
  const auto config = network(
      R"({"type": "dense", "units": 2},
         {"type": "dense", "units": 3, "updater": {"type": "nesterov"}})",
      R"("updater": {"type": "adam"}, "bias_updater": {"type": "sgd"},)");
  const Layout layout = dl::nn::layout_of(config);
  // dense1/weight | bias | dense2/weight | bias | output1/weight | bias
  REQUIRE(layout.state.size() == 6);
  const std::int64_t begins[] = {0, 384, 386, 392, 395, 407};
  const int per[] = {2, 0, 1, 0, 2, 0};
  const std::int64_t offsets[] = {0, 768, 768, 774, 774, 798};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(layout.state[i].begin == begins[i]);
    CHECK(layout.state[i].end ==
          (i < 5 ? begins[i + 1] : layout.parameter_count));
    CHECK(layout.state[i].per_parameter == per[i]);
    CHECK(layout.state[i].offset == offsets[i]);
  }
  CHECK(layout.state_count == 798);
  CHECK(layout.state[2].updater.kind == dl::device::Updater::kNesterov);

  const auto shared = dl::nn::layout_of(
      network(R"({"type": "dense", "units": 2}, {"type": "batch_norm"})",
              R"("updater": {"type": "adagrad"},)"));
  REQUIRE(shared.state.size() == 1);
  CHECK(shared.state[0].end == shared.parameter_count);
  CHECK(shared.state_count == shared.parameter_count);
}

TEST_CASE("windows are placed as the network page says") {
  const Shape image{7, 10, 1};
  const auto check = [&](std::int64_t kernel, std::int64_t stride,
                         std::int64_t dilation, Padding padding,
                         std::int64_t height, std::int64_t begin,
                         std::int64_t end) {
    const auto spec =
        conv2d_spec(window(kernel, stride, dilation, padding), image, 1);
    CHECK(spec.out_height() == height);
    CHECK(spec.pad_begin[0] == begin);
    CHECK(spec.pad_end[0] == end);
  };
  check(3, 1, 1, Padding::kValid, 5, 0, 0);
  check(3, 2, 1, Padding::kValid, 3, 0, 0);
  check(2, 2, 1, Padding::kValid, 3, 0, 0);  // the last row is left out
  check(3, 1, 2, Padding::kValid, 3, 0, 0);
  check(3, 1, 1, Padding::kSame, 7, 1, 1);
  check(4, 1, 1, Padding::kSame, 7, 1, 2);  // even: the odd pixel at the end
  check(2, 1, 1, Padding::kSame, 7, 0, 1);
  check(2, 2, 1, Padding::kSame, 4, 0, 1);
  check(3, 3, 1, Padding::kSame, 3, 1, 1);
  check(1, 2, 1, Padding::kSame, 4, 0, 0);
  check(3, 1, 2, Padding::kSame, 7, 2, 2);

  const auto spec = pool2d_spec(window(2, 2, 1, Padding::kSame), image,
                                dl::device::Pooling::kAverage);
  CHECK(spec.kind == dl::device::Pooling::kAverage);
  CHECK(spec.out_height() == 4);
  CHECK(spec.out_width() == 5);
  CHECK(spec.pad_end[0] == 1);
  CHECK(spec.pad_end[1] == 0);
}

TEST_CASE("a layer that does not fit is named") {
  auto config = network(
      R"({"type": "conv2d", "filters": 1, "kernel": [2, 2], "name": "c",
          "dilation": [2, 2]})");
  auto& layer = config.layers[0];
  layer.settings.set("kernel", {5, 5});
  CHECK(layout_error(config) ==
        "layers[0] ('c'): kernel 5x5, dilated by 2x2, is larger than its input "
        "8x8x3");
  layer.type = &layer_type("max_pool2d");
  layer.settings.set("kernel", {9, 5});
  layer.settings.set("dilation", {1, 1});
  CHECK(layout_error(config) ==
        "layers[0] ('c'): kernel 9x5 is larger than its input 8x8x3");
  config.inputs[0].shape = {12};
  CHECK(layout_error(config) ==
        "layers[0] ('c'): wants an image [height, width, channels], its input "
        "is [12]");
  config.inputs[0].shape = {std::int64_t{1} << 31, std::int64_t{1} << 31};
  CHECK(layout_error(config) == "input.shape has more than 2^40 numbers");
}

TEST_CASE("units beyond all memory are refused, and do not overflow") {
  for (const std::string type : {"lstm", "gru"}) {
    auto config = network(R"({"type": "flatten"})");
    config.inputs[0].shape = {8, 8};
    config.layers[0].type = &layer_type(type);
    config.layers[0].settings =
        dl::nn::LayerSettings({{"type", type}, {"units", 2147483647}}, "layer");
    CHECK_THAT(layout_error(config), Catch::Contains("more than 2^40"));
  }
}

TEST_CASE("components of updater state have names") {
  using dl::device::Updater;
  for (std::size_t k = 1; k < dl::nn::names_of<Updater>().size(); ++k) {
    const auto kind = static_cast<Updater>(k);
    std::set<std::string> names;
    for (int i = 0; i < dl::device::state_per_parameter(kind); ++i) {
      const std::string name = dl::nn::state_name(kind, i);
      CHECK(name.size() == 1);
      CHECK(names.insert(name).second);
    }
  }
  CHECK(std::string(dl::nn::state_name(Updater::kAdam, 0)) == "m");
  CHECK(std::string(dl::nn::state_name(Updater::kAdam, 1)) == "v");
  CHECK_THROWS_AS(dl::nn::state_name(Updater::kSgd, 0), dl::Error);
}

}  // namespace dl::nn::layout_test
