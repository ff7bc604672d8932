// Parts of networks: what they say is what the whole says there.

#include "libcore/nn/predict/part_of.h"

#include <map>
#include <optional>

#include "tests/unit/nn/gradient_check.h"
#include "tests/unit/nn/random_graph.h"

namespace dl::nn::part_of_test {
namespace {

using testing::RandomGraph;
using Names = std::vector<std::string>;

constexpr std::int64_t kExamples = 3;

// With random parameters and statistics.
Model model_of(const NetworkConfig& config) {
  Network network = testing::compile(config, kExamples);
  testing::stir(network);
  Model model;
  model.config = config;
  model.normalizers.inputs.resize(config.inputs.size());
  model.normalizers.outputs.resize(config.outputs.size());
  take_from(network, model);
  return model;
}

std::string refusal(const Model& whole, const Names& inputs,
                    const Names& outputs) {
  try {
    part_of(whole, inputs, outputs);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kUsage);
    return e.what();
  }
  return "";
}

std::vector<tensor::Tensor> predict(const Model& model,
                                    const std::vector<Part>& inputs) {
  Network network = testing::compile(model.config, kExamples, "cpu", 1, false);
  put_into(network, model);
  std::vector<Prediction> outputs;
  network.predict(inputs, outputs);
  std::vector<tensor::Tensor> values;
  for (Prediction& output : outputs) values.push_back(std::move(output.values));
  return values;
}

double distance(const tensor::Tensor& a, const tensor::Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const auto reals = [](const tensor::Tensor& t) {
    return std::vector<double>(t.as<float>().begin(), t.as<float>().end());
  };
  return testing::distance(reals(a), reals(b));
}

const std::string kSiamese = R"({
  "inputs": [{"name": "left", "shape": [4]}, {"name": "right", "shape": [4]}],
  "nodes": [
    {"name": "code", "type": "dense", "units": 3, "from": "left"},
    {"name": "other", "type": "dense", "shares": "code", "from": "right"},
    {"name": "both", "type": "subtract", "from": ["code", "other"]},
    {"name": "same", "type": "output", "units": 1,
     "loss": "binary_cross_entropy"}],
  "outputs": "same"})";

// A cut in two: the values at a node, and what follows from them.
struct Halves {
  Model first, second;
  std::vector<Part> second_inputs;  // but for the node's values
};

// One of these sets of inputs is what is needed besides the node.
std::optional<Halves> halves(const Model& whole, const std::string& node,
                             const std::string& output,
                             const std::vector<Part>& given) {
  const auto& inputs = whole.config.inputs;
  for (std::size_t set = 0; set < (1U << inputs.size()); ++set) {
    Halves made;
    Names names{node};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      names.push_back(inputs[i].name);
      made.second_inputs.push_back(given[i]);
    }
    try {
      made.first = part_of(whole, {}, Names{node});
      made.second = part_of(whole, names, Names{output});
      return made;
    } catch (const Error& e) {
      REQUIRE(e.code() == Code::kUsage);
    }
  }
  return {};
}

TEST_CASE("the two parts of a random graph say what the whole does",
          "[graph][part]") {
  int cuts = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const NetworkConfig config = RandomGraph(seed).make();
    const Layout layout = layout_of(config);
    const Model whole = model_of(config);
    const data::DataSet set = testing::random_set(config, kExamples);
    Network network = testing::compile(config, kExamples);
    const std::vector<Part> given = network.batch_of(set).inputs;
    const auto want = predict(whole, given);
    const std::size_t inputs = config.inputs.size();
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      const auto mask = layout.layers[i].mask;
      if (mask && *mask >= inputs) continue;  // a layer makes it
      const std::string& node = config.layers[i].name;
      for (std::size_t k = 0; k < config.outputs.size(); ++k) {
        if (config.outputs[k] == i) continue;
        const std::string& output = config.layers[config.outputs[k]].name;
        INFO("seed " << seed << ", " << node << " to " << output << ": "
                     << dump_json(config.source));
        auto cut = halves(whole, node, output, given);
        if (!cut) continue;
        std::vector<Part> first;
        for (const InputConfig& input : cut->first.config.inputs)
          for (std::size_t n = 0; n < inputs; ++n)
            if (config.inputs[n].name == input.name) first.push_back(given[n]);
        const auto values = predict(cut->first, first);
        cut->second_inputs.insert(
            cut->second_inputs.begin(),
            {values.data(), mask ? given[*mask].mask : nullptr});
        REQUIRE(distance(predict(cut->second, cut->second_inputs)[0], want[k]) <
                1e-4);
        ++cuts;
      }
    }
  }
  CHECK(cuts > 300);
}

TEST_CASE("a part keeps the names that data have", "[part]") {
  const Model whole = model_of(parse_network(kSiamese, "'g.json'"));
  const NetworkConfig right = part_of(whole, {}, Names{"other"}).config;
  REQUIRE(right.inputs.size() == 1);
  REQUIRE(right.layers.size() == 1);
  CHECK_FALSE(right.layers[0].shares);
  const Wanted wanted = wanted_by(right, layout_of(right));
  CHECK(wanted.inputs[0].tensor == "features/right");
  // The whole network has no description of a node's inputs.
  const NetworkConfig head =
      part_of(whole, Names{"both"}, Names{"same"}).config;
  CHECK(wanted_by(head, layout_of(head)).inputs[0].tensor == "features");
  // The parameters of a layer that is left out are those of the one that has
  // them in common with it.
  CHECK(part_of(whole, {}, Names{"other"}).parameters ==
        part_of(whole, {}, Names{"code"}).parameters);
}

TEST_CASE("a part of a chain takes sequences as the whole does", "[part]") {
  const Model whole = model_of(testing::sequence("[3, 2]", R"(
      {"type": "dense", "name": "each", "units": 4},
      {"type": "lstm", "name": "last", "units": 5},
      {"type": "output", "units": 2, "loss": "l2"})"));
  const NetworkConfig each = part_of(whole, {}, Names{"each"}).config;
  CHECK_FALSE(each.is_graph());
  CHECK(layout_of(each).layers[0].output.shape == tensor::Shape{3, 4});
  CHECK(part_of(whole, {}, Names{"last", "each"}).config.outputs ==
        std::vector<std::size_t>{1, 0});
}

TEST_CASE("what is no part is refused", "[part]") {
  const Model whole = model_of(parse_network(kSiamese, "'g.json'"));
  CHECK(refusal(whole, {}, {"cod"}) ==
        "no node is called 'cod'; did you mean 'code'? The nodes are code, "
        "other, both, same");
  CHECK(refusal(whole, {}, {"left"}) ==
        "no node is called 'left'; the nodes are code, other, both, same");
  CHECK(refusal(whole, {"code"}, {"same"}) ==
        "the outputs depend on 'right' as well");
  CHECK(refusal(whole, {"left", "right"}, {"code"}) ==
        "none of the outputs depends on 'right'");
  CHECK(refusal(whole, {"code"}, {"code"}) == "'code' is an input of the part");
  CHECK(refusal(whole, {}, {"code", "code"}) == "'code' is named twice");
}

}  // namespace
}  // namespace dl::nn::part_of_test
