// A file that is written passes ONNX's checker, or to_onnx() throws: here every
// network that there is goes through it.  Whether it computes the same is for
// tests/peers/onnx_export.py, which has a runtime.

#include "libcore/convert/export/onnx/onnx.h"

#define ONNX_ML 1
#define ONNX_NAMESPACE onnx
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/nn/support.h"

namespace dl::convert::onnx_test {
namespace {

nn::Model model_of(const nn::NetworkConfig& config) {
  nn::Model model;
  model.config = config;
  nn::Network network = nn::testing::compile(config, 1, "cpu", 1);
  nn::take_from(network, model);
  return model;
}

nn::Model model_of(const std::string& network) {
  return model_of(nn::parse_network(network, "network"));
}

::onnx::ModelProto written(const nn::Model& model, OnnxOptions options = {}) {
  options.version = "1";
  ::onnx::ModelProto proto;
  REQUIRE(proto.ParseFromString(to_onnx(model, options)));
  return proto;
}

std::vector<std::string> operators(const ::onnx::ModelProto& proto) {
  std::vector<std::string> all;
  for (const auto& node : proto.graph().node()) all.push_back(node.op_type());
  return all;
}

std::string shape_of(const ::onnx::ValueInfoProto& value) {
  std::string text = value.name();
  for (const auto& dim : value.type().tensor_type().shape().dim())
    text += " " + (dim.has_dim_param() ? dim.dim_param()
                                       : std::to_string(dim.dim_value()));
  return text;
}

TEST_CASE("every network that there is becomes ONNX") {
  int networks = 0;
  for (const char* folder : {"scripts/share/examples", "tests/golden/network"})
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(DL_SOURCE_DIR) + "/" + folder)) {
      if (entry.path().extension() != ".json") continue;
      INFO(entry.path());
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      const nn::Model model = model_of(text.str());
      for (const bool masks : {false, true}) {
        const auto proto = written(model, {.masks = masks});
        CHECK(proto.graph().output_size() ==
              static_cast<int>(model.config.outputs.size()));
      }
      ++networks;
    }
  CHECK(networks > 12);
}

TEST_CASE("images are transposed once on the way in and once on the way out") {
  const auto proto = written(model_of(R"({
    "input": {"shape": [8, 8, 3]}, "layers": [
      {"type": "conv2d", "filters": 4, "kernel": [3, 3], "activation": "relu"},
      {"type": "batch_norm"},
      {"type": "dropout"},
      {"type": "max_pool2d"},
      {"type": "activation", "activation": "softmax"},
      {"type": "conv2d", "filters": 4, "kernel": [2, 2]},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]})"));
  CHECK(operators(proto) ==
        std::vector<std::string>{"Transpose", "Conv", "Relu",
                                 "BatchNormalization", "MaxPool", "Softmax",
                                 "Conv", "Transpose", "Reshape", "Gemm",
                                 "Softmax", "Identity"});
  CHECK(shape_of(proto.graph().input(0)) == "features batch 8 8 3");
  CHECK(shape_of(proto.graph().output(0)) == "predictions batch 2");
}

TEST_CASE("normalizers come first, and the names of classes along") {
  nn::Model model = model_of(R"({"input": {"shape": [2]}, "layers": [
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  model.normalizers.inputs = {{"standardize", {1, 2}, {3, 4}}};
  model.normalizers.outputs = {{"standardize", {5}, {6}}};
  model.data.targets = {"up", "down"};
  const auto proto = written(model);
  CHECK(operators(proto) == std::vector<std::string>{"Sub", "Mul", "Gemm",
                                                     "Mul", "Add", "Identity"});
  std::vector<std::string> metadata;
  for (const auto& entry : proto.metadata_props())
    metadata.push_back(entry.key() + " " + entry.value());
  CHECK(metadata == std::vector<std::string>{"normalizer standardize",
                                             "target_normalizer standardize",
                                             R"(targets ["up","down"])"});
}

// The value that the initializer of this name has.
std::vector<float> numbers_of(const ::onnx::ModelProto& proto,
                              const std::string& name) {
  for (const auto& weight : proto.graph().initializer()) {
    if (weight.name() != name) continue;
    const auto* all = reinterpret_cast<const float*>(weight.raw_data().data());
    return {all, all + weight.raw_data().size() / sizeof(float)};
  }
  return {};
}

TEST_CASE("an output that is to be an input comes back into its units") {
  nn::Model model = model_of(R"({
    "inputs": [{"name": "x", "shape": [3]}], "nodes": [
      {"name": "some", "type": "subset", "begin": 1, "end": 3, "from": "x"},
      {"name": "code", "type": "dense", "units": 2, "from": "x"},
      {"name": "part", "type": "output", "units": 2, "from": "code",
       "loss": "mean_squared_error", "target": "some"},
      {"name": "all", "type": "output", "units": 3, "from": "code",
       "loss": "mean_squared_error", "target": "x"}],
    "outputs": ["part", "all"]})");
  model.normalizers.inputs = {{"standardize", {1, 2, 3}, {0.5, 0.25, 0.125}}};
  const auto proto = written(model);
  std::vector<std::vector<float>> factors;
  for (const auto& node : proto.graph().node())
    if (node.op_type() == "Mul" || node.op_type() == "Add")
      factors.push_back(numbers_of(proto, node.input(1)));
  CHECK(factors ==
        std::vector<std::vector<float>>{
            {0.5F, 0.25F, 0.125F}, {4, 8}, {2, 3}, {2, 4, 8}, {1, 2, 3}});
  std::vector<std::string> metadata;
  for (const auto& entry : proto.metadata_props())
    metadata.push_back(entry.key() + " " + entry.value());
  CHECK(metadata == std::vector<std::string>{
                        "normalizer standardize",
                        "target_normalizer/part standardize",
                        "target_normalizer/all standardize", "target/all x"});
}

// The columns are those of the data, and the input is the network's.
TEST_CASE("normalizers of flat rows fit images, and those of images rows") {
  const auto columns = [](std::int64_t count, std::vector<double>& all) {
    for (std::int64_t k = 0; k < count; ++k)
      all.push_back(static_cast<double>(k + 1));
  };
  for (const auto& [shape, count] :
       {std::pair<std::string, std::int64_t>{"[4, 4, 2]", 32},
        {"[4, 4, 1]", 16},
        {"[16, 1]", 16},
        {"[1, 16]", 16},
        {"[32]", 2}}) {
    INFO(shape);
    nn::Model model = model_of(R"({"input": {"shape": )" + shape +
                               R"(}, "layers": [{"type": "flatten"},
        {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
    data::Normalizer n{"minmax", {}, {}};
    columns(count, n.shift);
    columns(count, n.scale);
    n.scale[0] = 0.5;
    model.normalizers.inputs = {n};
    const auto proto = written(model);
    CHECK(operators(proto)[0] == "Sub");
    const auto& weights = proto.graph().initializer();
    const auto found =
        std::ranges::find(weights, proto.graph().node(0).input(1),
                          [](const auto& weight) { return weight.name(); });
    REQUIRE(found != weights.end());
    const auto* numbers =
        reinterpret_cast<const float*>(found->raw_data().data());
    const std::size_t many = found->raw_data().size() / sizeof(float);
    for (std::size_t k = 0; k < many; ++k)
      CHECK(numbers[k] ==
            static_cast<float>(k % static_cast<std::size_t>(count) + 1));
    // The input's shape does not follow from the normalizer.
    const tensor::Shape input = model.config.inputs[0].shape;
    CHECK(proto.graph().input(0).type().tensor_type().shape().dim_size() ==
          input.rank() + 1);
    CHECK((many == static_cast<std::size_t>(input.back()) ||
           many == static_cast<std::size_t>(input.elements())));
  }
}

TEST_CASE("the output of a sequence has the name that its layer was given") {
  const auto proto = written(model_of(R"({"input": {"shape": [2]}, "layers": [
      {"type": "output", "name": "digit", "units": 2,
       "loss": "mean_squared_error"}]})"));
  CHECK(shape_of(proto.graph().output(0)) == "digit batch 2");
}

TEST_CASE("layers that share have one weight") {
  const auto proto = written(model_of(R"({
    "inputs": [{"name": "a", "shape": [3]}, {"name": "b", "shape": [3]}],
    "nodes": [
      {"name": "left", "type": "dense", "units": 2, "from": "a"},
      {"name": "right", "type": "dense", "from": "b", "shares": "left"},
      {"name": "far", "type": "l2_distance", "from": ["left", "right"]},
      {"name": "out", "type": "output", "units": 1,
       "loss": "binary_cross_entropy", "from": "far"}],
    "outputs": ["out"]})"));
  const auto& weights = proto.graph().initializer();
  CHECK(std::ranges::count_if(weights, [](const auto& w) {
          return w.name().ends_with("/weight");
        }) == 2);
  CHECK(shape_of(proto.graph().output(0)) == "out batch 1");
}

TEST_CASE(
    "sequences have a mask where their data had one, or it is asked for") {
  nn::Model model = model_of(R"({"input": {"shape": [5, 2]}, "layers": [
      {"type": "lstm", "units": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  CHECK(written(model).graph().input_size() == 1);
  model.data.schema["features_mask"] = {};
  const auto proto = written(model);
  REQUIRE(proto.graph().input_size() == 2);
  CHECK(shape_of(proto.graph().input(1)) == "features_mask batch 5");
  CHECK(written(model, {.masks = false}).graph().input_size() == 1);
}

TEST_CASE("what ONNX has no word for is refused by its layer's name") {
  const nn::Model model = model_of(R"({"input": {"shape": [5, 2]}, "layers": [
      {"type": "lstm", "name": "deep", "units": 3, "activation": "hard_tanh"},
      {"type": "output", "units": 2, "loss": "mean_squared_error"}]})");
  CHECK_THROWS_WITH(to_onnx(model, {.version = "1"}),
                    "layer 'deep' (lstm): \"activation\": \"hard_tanh\" has no "
                    "counterpart in ONNX's recurrent operators; want identity, "
                    "relu, sigmoid, tanh, hard_sigmoid or softsign");
}

}  // namespace
}  // namespace dl::convert::onnx_test
