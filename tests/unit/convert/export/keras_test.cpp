// Whether Keras loads what is written, and says the same, is for
// tests/peers/keras_export.py.

#include "libcore/convert/export/keras.h"

#include <catch2/catch.hpp>

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
  CHECK(refused(R"({"type": "last_step"})") ==
        "layer 'last_step1' (last_step): is not written for Keras yet; ONNX "
        "has it");
  CHECK(refused(R"({"type": "activation", "activation":
                    {"type": "leaky_relu", "alpha": 0.1}})") ==
        "layer 'activation1' (activation): \"activation\": "
        R"({"alpha":0.1,"type":"leaky_relu"})"
        " is no activation that Keras has by a name");
}

}  // namespace
}  // namespace dl::convert
