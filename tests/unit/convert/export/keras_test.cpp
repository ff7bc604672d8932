// Whether Keras loads what is written, and says the same, is for
// tests/peers/keras_export.py.

#include "libcore/convert/export/keras.h"

#include <catch2/catch.hpp>

#include "libcore/convert/export/keras_model.h"
#include "tests/unit/nn/support.h"

namespace dl::convert {
namespace {

nn::Model model_of(const std::string& network) {
  nn::Model model;
  model.config = nn::parse_network(network, "network");
  nn::Network compiled = nn::testing::compile(model.config, 1, "cpu", 1);
  nn::take_from(compiled, model);
  return model;
}

TEST_CASE("a .keras file has its three members, and equal models equal bytes") {
  const nn::Model model =
      model_of(R"({"input": {"shape": [6, 6, 2]}, "layers": [
      {"type": "conv2d", "filters": 3, "kernel": [3, 3], "activation": "relu"},
      {"type": "batch_norm"},
      {"type": "max_pool2d"},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]})");
  const std::string file = to_keras(model);
  CHECK(file.starts_with("PK"));
  for (const char* part :
       {"metadata.json", "config.json", "model.weights.h5",
        R"("class_name":"MaxPooling2D")", "\x89HDF", "batch_normalization"})
    CHECK(file.find(part) != std::string::npos);
  CHECK(file == to_keras(model));
}

TEST_CASE("an HDF5 file is one that Keras 2 wrote, with names of weights") {
  const nn::Model model =
      model_of(R"({"input": {"shape": [6, 6, 2]}, "layers": [
      {"type": "depthwise_conv2d", "kernel": [3, 3],
       "activation": {"type": "leaky_relu", "alpha": 0.1}},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]})");
  const std::string file = to_keras(model, KerasFormat::kHdf5);
  CHECK(file.starts_with("\x89HDF"));
  for (const char* part :
       {"model_config", "layer_names", "weight_names", "2.15.0",
        R"("class_name":"DepthwiseConv2D")", R"("class_name":"LeakyReLU")"})
    CHECK(file.find(part) != std::string::npos);
  CHECK(file == to_keras(model, KerasFormat::kHdf5));
}

TEST_CASE("Keras's order has first what is far from the outputs") {
  const auto node = [](const std::string& name,
                       const std::vector<std::string>& from) {
    KerasNode made{.type = "Dense", .name = name, .config = {}, .inputs = {}};
    for (const std::string& one : from) made.inputs.push_back({one, {}});
    return made;
  };
  std::vector<std::string> names;
  for (const KerasNode& one :
       in_keras_order({node("in", {}), node("short", {"in"}),
                       node("long1", {"in"}), node("long2", {"long1"}),
                       node("sum", {"short", "long2"}), node("out", {"sum"})},
                      {"out"}))
    names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"in", "long1", "short", "long2",
                                          "sum", "out"});
}

TEST_CASE("layers behind padding are those that leave it out in Keras, too") {
  const auto written =
      [](const std::string& behind) {
        return to_keras(model_of(R"({"input": {"shape": [5, 2]}, "layers": [
        {"type": "masking"}, )" + behind +
                                 R"(, {"type": "output", "units": 2,
                                   "loss": "mean_squared_error"}]})"));
      };
  CHECK(written(R"({"type": "lstm", "units": 3})")
            .find("\"zero_output_for_mask\":true") != std::string::npos);
  CHECK_THROWS_WITH(
      written(R"({"type": "conv1d", "filters": 2, "kernel": 3},
                 {"type": "lstm", "units": 3})"),
      "layer 'conv1d1' (conv1d): its input has padding, which Keras's layer "
      "would count");
}

TEST_CASE("what Keras has no word for is refused by its layer's name") {
  const auto refused = [](const std::string& layer) {
    const nn::Model model = model_of(
        R"({"input": {"shape": [5, 2]}, "layers": [)" + layer +
        R"(, {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
    std::string what;
    try {
      to_keras(model);
    } catch (const Error& e) {
      CHECK(e.code() == Code::kData);
      what = e.what();
    }
    return what;
  };
  nn::Model masked = model_of(R"({"input": {"shape": [5, 2]}, "layers": [
      {"type": "lstm", "units": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  masked.data.schema["features_mask"] = {};
  CHECK_THROWS_WITH(to_keras(masked),
                    "input 'features': its data have a mask, which is not "
                    "written for Keras yet; ONNX has it");
  CHECK(refused(R"({"type": "lstm", "units": 3, "peepholes": true})") ==
        "layer 'lstm1' (lstm): \"peepholes\" have no counterpart in Keras");
  CHECK(refused(R"({"type": "reverse"})") ==
        "layer 'reverse1' (reverse): Keras has no layer that turns a sequence "
        "round; ONNX can say it");
  CHECK(refused(R"({"type": "activation", "activation": "rational_tanh"})") ==
        "layer 'activation1' (activation): \"activation\": "
        "\"rational_tanh\" is none that Keras has");
}

}  // namespace
}  // namespace dl::convert
