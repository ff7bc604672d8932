// Layers that learn by themselves, before the network they are of.

#include "libcore/nn/model/pretrain.h"

#include "libcore/nn/layer.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::pretrain_test {
namespace {

using testing::compile;
using testing::sequence;
using testing::values;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

constexpr Position kAt{3, 0, 5};

const std::string kStack = R"(
    {"type": "dropout", "rate": 0.25},
    {"type": "batch_norm", "name": "norm"},
    {"type": "autoencoder", "name": "low", "units": 4, "corruption": 0,
     "loss": "mean_squared_error", "updater": {"type": "adam"}},
    {"type": "gaussian_noise", "deviation": 0.5},
    {"type": "autoencoder", "name": "high", "units": 3, "sparsity": 0.1,
     "sparsity_weight": 2, "visible_bias_init": 0.5, "frozen": true},
    {"type": "output", "name": "end", "units": 2,
     "loss": "negative_log_likelihood"})";

NetworkConfig stack() { return sequence("[2, 3]", kStack); }

NetworkConfig stage(const NetworkConfig& whole, const std::string& layer) {
  return parse_network(pretraining_network(whole, layer), "'stage'");
}

TEST_CASE("an autoencoder layer is a dense one to the network", "[pretrain]") {
  const auto with = [](const std::string& type) {
    return sequence("[4]", R"({"type": ")" + type +
                               R"(", "name": "a", "units": 3, "activation":
        "tanh"}, {"type": "output", "name": "end", "units": 2, "loss":
        "negative_log_likelihood"})");
  };
  const testing::Examples e = testing::random_examples(with("dense"), 5);
  Network one = compile(with("dense"), 5),
          two = compile(with("autoencoder"), 5);
  const double loss = one.compute_gradient(e.batch(), kAt);
  CHECK(two.compute_gradient(e.batch(), kAt) == loss);
  CHECK(values(one, one.update()) == values(two, two.update()));
  CHECK(testing::predict(one, e.features) == testing::predict(two, e.features));
  CHECK(two.parameter_segments()[1].name == "a/bias");
}

TEST_CASE("each autoencoder layer has a network to learn in", "[pretrain]") {
  const NetworkConfig whole = stack();
  CHECK(pretrained_layers(whole) == Names{"low", "high"});
  const Json first = Json::parse(pretraining_network(whole, "low"));
  REQUIRE(first["nodes"].size() == 3);  // without the dropout before
  CHECK(first["nodes"][0]["name"] == "norm");
  CHECK(first["nodes"][0]["from"] == Json({"features"}));
  CHECK(first["nodes"][0]["frozen"] == true);
  CHECK(first["nodes"][1]["type"] == "dense");
  CHECK(first["nodes"][1]["updater"]["type"] == "adam");
  CHECK(first["nodes"][1]["activation"] == "sigmoid");
  CHECK(first["nodes"][2]["target"] == "norm");
  CHECK(first["nodes"][2]["units"] == 6);
  CHECK(first["nodes"][2]["tied_to"] == "low");
  CHECK(first["nodes"][2]["loss"] == "mean_squared_error");
  CHECK(first["outputs"] == Json({"low.reconstruction"}));

  const Json second = Json::parse(pretraining_network(whole, "high"));
  REQUIRE(second["nodes"].size() == 6);  // and without the noise
  CHECK(second["nodes"][1]["type"] == "autoencoder");
  CHECK(second["nodes"][1]["frozen"] == true);
  CHECK(second["nodes"][2] == Json({{"type", "dropout"},
                                    {"name", "high.corrupted"},
                                    {"rate", 0.3},
                                    {"unscaled", true},
                                    {"from", "low"}}));
  CHECK_FALSE(second["nodes"][3].contains("frozen"));
  CHECK(second["nodes"][4]["sparsity"] == 0.1);
  CHECK(second["nodes"][5]["bias_init"] == 0.5);
  CHECK(second["nodes"][5]["target"] == "low");
  const NetworkConfig config = stage(whole, "high");
  CHECK_FALSE(wanted_by(config, layout_of(config)).labels());
  // The same again, whatever became of the document.
  CHECK(pretraining_network(parse_network(dump_json(to_json(whole)), "again"),
                            "high") == pretraining_network(whole, "high"));
}

TEST_CASE("only the layer of a stage learns", "[pretrain][gradient]") {
  const NetworkConfig config = stage(stack(), "high");
  Network network = compile(config, 4, "reference", 2);
  testing::stir(network);
  const data::DataSet set = testing::random_set(config, 4);
  const Batch batch = network.batch_of(set);
  const auto loss = [&] { return network.compute_gradient(batch, kAt); };
  loss();
  CHECK(testing::gradient_error(network, values(network, network.update()), 40,
                                loss) <= testing::kTolerance);
  const Numbers before = values(network, network.parameters());
  network.apply_update(kAt);
  const Numbers after = values(network, network.parameters());
  for (const Segment& s : network.parameter_segments()) {
    INFO(s.name);
    const bool learnt = !std::equal(before.begin() + s.offset,
                                    before.begin() + s.offset + s.elements(),
                                    after.begin() + s.offset);
    CHECK(learnt == s.name.starts_with("high"));
  }
}

// Zeros without anything that makes up for them.
TEST_CASE("what corrupts leaves the rest as it is", "[pretrain]") {
  const NetworkConfig config = sequence("[50]", R"(
      {"type": "dropout", "rate": 0.3, "unscaled": true},
      {"type": "dense", "units": 50, "weight_init": "identity", "bias": false,
       "frozen": true},
      {"type": "output", "units": 1, "loss": "l1", "weight_init": "ones"})");
  Network network = compile(config, 4, "reference", 2);
  testing::Examples e = testing::random_examples(config, 4);
  std::ranges::fill(e.features.as<double>(), 1.0);
  std::ranges::fill(e.labels.as<double>(), 0.0);
  const double kept = 4 * network.compute_gradient(e.batch(), kAt);
  CHECK(kept == Approx(std::round(kept)));  // ones, of which 140 are expected
  CHECK((kept > 115 && kept < 165));
  CHECK(testing::predict(network, e.features)[0] == Approx(50));
}

TEST_CASE("the network has what each stage learnt", "[pretrain]") {
  const NetworkConfig whole = stack();
  std::vector<Model> stages;
  for (const std::string& layer : pretrained_layers(whole)) {
    Model model;
    model.config = stage(whole, layer);
    Network network = compile(model.config, 4);
    testing::stir(network);
    take_from(network, model);
    model.normalizers.inputs = {{"minmax", {1}, {2}}};
    stages.push_back(std::move(model));
  }
  const Model all = pretrained(whole, stages, pretrained_layers(whole));
  CHECK(all.normalizers.input(0).kind == "minmax");
  const Layout layout = layout_of(whole);
  const auto of = [](const Layout& where, const Model& model,
                     const std::string& name) {
    for (const Segment& s : where.parameters)
      if (s.name == name)
        return std::vector<float>(
            model.parameters.begin() + s.offset,
            model.parameters.begin() + s.offset + s.elements());
    throw Error{Code::kBug, name};
  };
  for (const auto& [name, i] : {std::pair{"norm/gamma", 0},
                                {"low/weight", 0},
                                {"low/bias", 0},
                                {"high/weight", 1},
                                {"high/bias", 1}}) {
    const Model& learnt = stages[static_cast<std::size_t>(i)];
    CHECK(of(layout, all, name) == of(layout_of(learnt.config), learnt, name));
  }
}

TEST_CASE("networks that cannot be pretrained are refused", "[pretrain]") {
  CHECK_THROWS_WITH(
      pretrained_layers(
          sequence("[4]", R"({"type": "output", "units": 1, "loss": "l2"})")),
      "the network has no layer that can learn by itself; want one of type "
      "autoencoder");
  const NetworkConfig two = parse_network(
      R"({"inputs": [{"name": "x", "shape": [4]}, {"name": "y", "shape": [4]}],
          "nodes": [{"name": "a", "type": "autoencoder", "units": 3,
                     "from": "x"},
                    {"name": "b", "type": "autoencoder", "shares": "a",
                     "from": "y"},
                    {"name": "sum", "type": "add", "from": ["a", "b"]},
                    {"name": "end", "type": "output", "units": 1,
                     "loss": "l2"}], "outputs": "end"})",
      "'two'");
  CHECK_THROWS_WITH(pretrained_layers(two),
                    "pretraining is for networks of one input, this one has 2");
  CHECK_THROWS_WITH(
      sequence("[4]", R"({"type": "autoencoder", "units": 3, "loss": "focal"},
                         {"type": "output", "units": 1, "loss": "l2"})"),
      "'test.json': layers[0].loss: 'focal' is not for what goes in");
}

}  // namespace
}  // namespace dl::nn::pretrain_test
