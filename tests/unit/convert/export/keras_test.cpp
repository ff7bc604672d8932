// Whether Keras loads what is written, and says the same, is for
// tests/peers/keras_export.py.

#include "libcore/convert/export/keras/keras.h"

#include <catch2/catch.hpp>

#include "libcore/convert/export/keras/model.h"
#include "tests/unit/nn/support.h"

namespace dl::convert::keras_test {
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
  CHECK(written(R"({"type": "lstm", "units": 3, "return_sequences": true})")
            .find("\"zero_output_for_mask\":true") != std::string::npos);
  CHECK_THROWS_WITH(
      written(R"({"type": "conv1d", "filters": 2, "kernel": 3},
                 {"type": "lstm", "units": 3})"),
      "layer 'conv1d1' (conv1d): its input has padding, which Keras's layer "
      "would count");
}

TEST_CASE("activations that rescale would lose the mask in Keras 2") {
  const nn::Model model = model_of(R"({"input": {"shape": [5, 2]}, "layers": [
      {"type": "masking"},
      {"type": "dense", "units": 3, "activation": {"type": "hard_sigmoid", "slope": 0.16}},
      {"type": "lstm", "units": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  CHECK(to_keras(model).size() > 1000);
  CHECK_THROWS_WITH(to_keras(model, KerasFormat::kHdf5),
                    "layer 'dense1' (dense): its input has padding, which "
                    "Keras 2 would count; a .keras file can say it");
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
  CHECK(refused(R"({"type": "lstm", "units": 3, "peepholes": true})") ==
        "layer 'lstm1' (lstm): \"peepholes\" have no counterpart in Keras");
  CHECK(refused(R"({"type": "reverse"})") ==
        "layer 'reverse1' (reverse): Keras has no layer that turns a sequence "
        "round; ONNX can say it");
  CHECK(refused(R"({"type": "activation", "activation": "rational_tanh"})") ==
        "layer 'activation1' (activation): \"activation\": "
        "\"rational_tanh\" is none that Keras has");
}

// Whether the model can be exported, so that its configuration can be read.
bool says(const nn::Model& model, const std::string& text,
          std::optional<bool> masks = {}) {
  return to_keras(model, KerasFormat::kArchive, masks).find(text) !=
         std::string::npos;
}

TEST_CASE("regularizers, constraints and what is frozen are Keras's") {
  const nn::Model model =
      model_of(R"({"input": {"shape": [6, 6, 2]}, "layers": [
      {"type": "conv2d", "filters": 3, "kernel": [3, 3], "frozen": true,
       "regularization": {"l1": 0.5, "l2": 0.25, "l2_bias": 0.125}},
      {"type": "depthwise_conv2d", "kernel": [3, 3],
       "constraints": {"max_norm": 3.5}},
      {"type": "dense", "units": 3,
       "constraints": {"min_norm": 1, "max_norm": 1, "biases": true}},
      {"type": "output", "units": 2, "loss": "mean_squared_error",
       "constraints": {"non_negative": true}}]})");
  const std::string l1l2 =
      R"("class_name":"L1L2","config":{"l1":0.5,"l2":0.125},)"
      R"("module":"keras.regularizers","registered_name":null})";
  CHECK(says(model, R"("kernel_regularizer":{)" + l1l2));
  CHECK(says(model, R"("bias_regularizer":{"class_name":"L1L2",)"
                    R"("config":{"l1":0.0,"l2":0.0625})"));
  CHECK(says(model, R"("trainable":false)"));
  CHECK(says(model, R"("depthwise_constraint":{"class_name":"MaxNorm",)"
                    R"("config":{"axis":[0,1],"max_value":3.5})"));
  CHECK(says(model, R"("bias_constraint":{"class_name":"UnitNorm")"));
  CHECK(says(model, R"("kernel_constraint":{"class_name":"NonNeg")"));
}

TEST_CASE("layers keep their names, and an input gives way") {
  const nn::Model model = model_of(R"({"input": {"shape": [2]}, "layers": [
      {"type": "dense", "name": "features", "units": 3},
      {"type": "output", "name": "a.b-c", "units": 2,
       "loss": "mean_squared_error"}]})");
  CHECK(says(model, R"("input_layers":["features_",0,0])"));
  CHECK(says(model, R"("output_layers":["a.b-c",0,0])"));
}

TEST_CASE("columns of flat rows are normalized as a row") {
  nn::Model model = model_of(R"({"input": {"shape": [2, 2, 1]}, "layers": [
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  model.normalizers.inputs = {
      {"standardize", {1, 2, 3, 4}, {1, 0.5, 0.25, 0.125}}};
  CHECK(says(model, R"("mean":[1.0,2.0,3.0,4.0])"));
  CHECK(says(model, R"("variance":[1.0,4.0,16.0,64.0])"));
  CHECK(says(model, R"("target_shape":[4])"));
  CHECK(says(model, R"("target_shape":[2,2,1])"));
}

TEST_CASE("padding of the data is found by its zeros") {
  nn::Model model = model_of(R"({"input": {"shape": [5, 2]}, "layers": [
      {"type": "lstm", "units": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  CHECK(!says(model, "Masking"));
  model.data.schema["features_mask"] = {tensor::DType::kF32, {5}};
  CHECK(says(model, R"({"mask_value":0.0,"name":"features_padding"})"));
  model.normalizers.inputs = {{"scale", {0}, {0.5}}};
  CHECK(says(model, "features_padding"));
  CHECK_THROWS_WITH(
      to_keras(model, KerasFormat::kHdf5),
      "input 'features': its data have padding, which Keras 2 does not keep "
      "behind a normalizer; a .keras file can say it; --masks never takes all "
      "steps for ones that count");
  nn::Model tokens = model_of(R"({"input": {"shape": [5]}, "layers": [
      {"type": "embedding", "rows": 9, "units": 3},
      {"type": "lstm", "units": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  tokens.data.schema["features_mask"] = {tensor::DType::kF32, {5}};
  CHECK_THROWS_WITH(
      to_keras(tokens),
      "input 'features': its data have padding, which Keras knows by the token "
      "0 alone: give 'embedding1' mask_zero where 0 is no other token, or take "
      "ONNX; --masks never takes all steps for ones that count");
  CHECK(to_keras(tokens, KerasFormat::kHdf5, false).size() > 1000);
}

TEST_CASE("a mask of data without padding is left out where that is said") {
  nn::Model model = model_of(R"({"input": {"shape": [5, 2]}, "layers": [
      {"type": "conv1d", "filters": 3, "kernel": 2},
      {"type": "lstm", "units": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  CHECK_THROWS_WITH(to_keras(model, KerasFormat::kArchive, true),
                    "layer 'conv1d1' (conv1d): its input has padding, which "
                    "Keras's layer would count; --masks never takes all steps "
                    "for ones that count");
  model.data.schema["features_mask"] = {tensor::DType::kF32, {5}};
  CHECK_THROWS(to_keras(model));
  CHECK(!says(model, "Masking", false));
}

TEST_CASE("Keras rescales an output that is to be an input") {
  const auto model_for = [](const std::string& shape, const std::string& last) {
    return model_of(R"({"input": {"shape": )" + shape + R"(}, "layers": [
      {"type": "dense", "units": 2}, )" +
                    last + R"("loss": "mean_squared_error",
       "target": "features"}]})");
  };
  const std::string rows = R"({"type": "output", "units": 4, )";
  nn::Model flat = model_for("[4]", rows);
  flat.normalizers.inputs = {{"standardize", {1, 2, 3, 4}, {1, 0.5, 0.25, 2}}};
  CHECK(says(flat, R"("scale":[1.0,2.0,4.0,0.5])"));
  CHECK(says(flat, R"("offset":[1.0,2.0,3.0,4.0])"));
  // The channels of an image alternate in a row of its numbers.
  nn::Model image = model_for("[2, 1, 2]", rows);
  image.normalizers.inputs = {{"minmax", {1, 2}, {0.5, 0.25}}};
  CHECK(says(image, R"("scale":[2.0,4.0,2.0,4.0])"));
  // Each number of flat rows has its own, also where an image comes out.
  nn::Model from_rows = model_of(R"({"input": {"shape": [2, 2, 1]}, "layers": [
      {"type": "conv2d", "filters": 1, "kernel": [1, 1]},
      {"type": "loss", "units": 1, "loss": "mean_squared_error",
       "target": "features"}]})");
  from_rows.normalizers.inputs = flat.normalizers.inputs;
  CHECK(says(from_rows, R"("scale":[1.0,2.0,4.0,0.5])"));
  CHECK(says(from_rows, R"("target_shape":[2,2,1])"));
}

}  // namespace
}  // namespace dl::convert::keras_test
