// Dense layers that use the weight of another, transposed.

#include "libcore/nn/model/model.h"
#include "libcore/nn/model/transfer.h"
#include "libcore/nn/predict/part_of.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::tied_test {
namespace {

using testing::compile;
using testing::sequence;
using testing::values;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

constexpr Position kAt{3, 0, 5};

NetworkConfig graph(const std::string& nodes, const std::string& outputs) {
  return parse_network(
      R"({"seed": 3, "inputs": [{"name": "x", "shape": [4]}], "nodes": [)" +
          nodes + R"(], "outputs": )" + outputs + "}",
      "'g.json'");
}

// An autoencoder of [4] numbers; what its encoder and its decoder say besides.
NetworkConfig autoencoder(const std::string& encoder = "",
                          const std::string& decoder = "") {
  return sequence("[4]",
                  R"(
      {"type": "dense", "name": "code", "units": 2, "activation": "tanh")" +
                      encoder + R"(},
      {"type": "output", "name": "back", "units": 4, "activation": "tanh",
       "loss": "mean_squared_error", "target": "features")" +
                      decoder + "}",
                  R"(, "updater": {"type": "sgd", "learning_rate": 0.5})");
}
const std::string kTied = R"(, "tied_to": "code")";

// Tied to one another in every way: a decoder, one that shares with it, one
// without a bias and an output.
const std::string kWeb = R"(
    {"name": "code", "type": "dense", "units": 3, "activation": "tanh",
     "from": "x"},
    {"name": "back", "type": "dense", "units": 4, "activation": "tanh",
     "tied_to": "code"},
    {"name": "again", "type": "dense", "shares": "code", "from": "back"},
    {"name": "third", "type": "dense", "shares": "back"},
    {"name": "fourth", "type": "dense", "units": 4, "bias": false,
     "tied_to": "code", "from": "again"},
    {"name": "sum", "type": "add", "from": ["third", "fourth"]},
    {"name": "end", "type": "dense", "units": 3, "from": "sum"},
    {"name": "made", "type": "output", "units": 4, "tied_to": "end",
     "loss": "mean_squared_error", "target": "x"})";

// Weights as (i * by % 7) / 7 - 0.4.
void put_weights(Numbers& to, int count, int by) {
  for (int i = 0; i < count; ++i) to.push_back(i * by % 7 / 7.0 - 0.4);
}

TEST_CASE("an autoencoder of tied weights has PyTorch's numbers", "[tied]") {
  Network network = compile(autoencoder("", kTied), 3);
  REQUIRE(network.parameter_segments().size() == 3);
  CHECK(network.parameter_segments()[2].name == "back/bias");
  Numbers w;
  put_weights(w, 8, 3);
  put_weights(w, 2, 2);
  put_weights(w, 4, 5);
  testing::assign(network, network.parameters(), w);
  testing::Examples e;
  e.features = tensor::Tensor(tensor::DType::kF64, {3, 4});
  for (int i = 0; i < 12; ++i)
    e.features.as<double>()[static_cast<std::size_t>(i)] =
        i * 5 % 11 / 11.0 - 0.5;
  CHECK(testing::train(network, e.batch(), 0) == Approx(0.12355044682028353));
  for (int i = 1; i < 3; ++i) testing::train(network, e.batch(), i);
  const Numbers after = values(network, network.parameters());
  INFO(Catch::Detail::stringify(after));
  CHECK(testing::distance(
            after, {-0.4866932159, 0.1115806558, 0.4418248592, -0.0955856082,
                    0.3796603005, -0.3486243251, 0.2070272368, -0.4623769647,
                    -0.3870352226, 0.0202446203, -0.2799941571, 0.0515367679,
                    0.1869608457, -0.2660432835}) < 1e-8);
}

TEST_CASE("gradients of weights that are tied and shared", "[gradient][tied]") {
  const NetworkConfig config = graph(kWeb, R"("made")");
  const data::DataSet set = testing::random_set(config, 5);
  Numbers one;
  for (const auto& [device, lanes] :
       {std::pair{"reference", 1}, {"reference", 3}, {"cpu", 3}}) {
    Network network = compile(config, 5, device, lanes);
    testing::stir(network);
    const Batch batch = network.batch_of(set);
    const auto loss = [&] { return network.compute_gradient(batch, kAt); };
    loss();
    const Numbers gradient = values(network, network.update());
    if (one.empty()) {
      one = gradient;
      CHECK(testing::gradient_error(network, gradient, 20, loss) <=
            testing::kTolerance);
    }
    INFO(device << " " << lanes);
    CHECK(testing::distance(one, gradient) <
          (std::string(device) == "cpu" ? 1e-5 : 1e-12));
  }
}

TEST_CASE("noise of weights is that of the layer that has them",
          "[gradient][tied]") {
  const NetworkConfig config =
      autoencoder(R"(, "weight_noise": {"drop_connect": 0.5})", kTied);
  Network network = compile(config, 4);
  testing::stir(network);
  const testing::Examples e = testing::random_examples(config, 4);
  const auto loss = [&] { return network.compute_gradient(e.batch(), kAt); };
  loss();
  const Numbers gradient = values(network, network.update());
  // A weight that is dropped is dropped where it is used transposed as well.
  const auto dropped = std::count(gradient.begin(), gradient.begin() + 8, 0.0);
  CHECK((dropped > 0 && dropped < 8));
  CHECK(testing::gradient_error(network, gradient, 20, loss) <=
        testing::kTolerance);
}

TEST_CASE("what is tied is regularized and held once, by its own layer",
          "[tied]") {
  const NetworkConfig config = autoencoder(
      R"(, "regularization": {"l2": 0.5}, "constraints": {"max_norm": 0.25})",
      kTied + R"(, "regularization": {"l2": 7})");
  Network network = compile(config, 4);
  const Numbers w = values(network, network.parameters());
  double squares = 0;
  for (std::size_t i = 0; i < 8; ++i) squares += w[i] * w[i];
  CHECK(network.regularization_score() == Approx(0.25 * squares));
  const testing::Examples e = testing::random_examples(config, 4);
  testing::train(network, e.batch(), 0);
  const Numbers after = values(network, network.parameters());
  for (std::size_t row = 0; row < 2; ++row)
    CHECK(std::hypot(std::hypot(after[4 * row], after[4 * row + 1]),
                     std::hypot(after[4 * row + 2], after[4 * row + 3])) <=
          0.25 + 1e-12);
}

TEST_CASE("either side of a tie can be frozen", "[tied][frozen]") {
  const std::string frozen = R"(, "frozen": true)";
  const testing::Examples e = testing::random_examples(autoencoder(), 4);
  const auto moved = [&](const std::string& code, const std::string& back) {
    Network network = compile(autoencoder(code, kTied + back), 4);
    const Numbers before = values(network, network.parameters());
    testing::train(network, e.batch(), 0);
    const Numbers after = values(network, network.parameters());
    const auto part = [&](std::size_t begin, std::size_t end) {
      return !std::equal(before.begin() + static_cast<std::ptrdiff_t>(begin),
                         before.begin() + static_cast<std::ptrdiff_t>(end),
                         after.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    return std::vector<bool>{part(0, 8), part(8, 10), part(10, 14)};
  };
  CHECK(moved("", "") == std::vector<bool>{true, true, true});
  CHECK(moved(frozen, "") == std::vector<bool>{false, false, true});
  CHECK(moved("", frozen) == std::vector<bool>{true, true, false});
}

// A decoder that a batch normalization is worked into, and a part of it.
TEST_CASE("parts without the layer that has the weight have their own",
          "[tied][part]") {
  const NetworkConfig config = graph(
      R"({"name": "code", "type": "dense", "units": 3, "from": "x"},
         {"name": "back", "type": "dense", "units": 4, "tied_to": "code"},
         {"name": "norm", "type": "batch_norm"},
         {"name": "act", "type": "activation", "activation": "tanh"},
         {"name": "made", "type": "output", "units": 4, "target": "x",
          "loss": "mean_squared_error"})",
      R"("made")");
  Network network = compile(config, 5);
  testing::stir(network);
  Model model;
  model.config = config;
  model.normalizers.inputs.resize(1);
  model.normalizers.outputs.resize(1);
  take_from(network, model);
  const tensor::Tensor x = testing::random_examples(config, 5).features;
  const auto predict = [](const Model& of, const tensor::Tensor& features,
                          const char* device, int lanes, bool training) {
    Network made = compile(of.config, 5, device, lanes, training);
    put_into(made, of);
    tensor::Tensor out;
    made.predict(features, out);
    return out;
  };
  const auto reals = [](const tensor::Tensor& t) {
    return Numbers(t.as<float>().begin(), t.as<float>().end());
  };
  const Numbers want = reals(predict(model, x, "reference", 1, true));
  for (const auto& [device, lanes] :
       {std::pair{"reference", 1}, {"cpu", 1}, {"cpu", 3}})
    CHECK(testing::distance(reals(predict(model, x, device, lanes, false)),
                            want) < 1e-5);
  const Model encoder = part_of(model, {}, Names{"code"}),
              decoder = part_of(model, Names{"code"}, Names{"made"}),
              all = part_of(model, {}, Names{"act"});
  CHECK(all.config.layers[1].tied_to == std::size_t{0});
  CHECK_FALSE(decoder.config.layers[0].tied_to);
  CHECK(layout_of(decoder.config).parameters[0].name == "back/weight");
  const tensor::Tensor code = predict(encoder, x, "cpu", 1, false);
  CHECK(testing::distance(reals(predict(decoder, code, "cpu", 1, false)),
                          want) < 1e-5);
}

TEST_CASE("a tied layer takes over its bias alone", "[tied]") {
  const NetworkConfig tied = autoencoder("", kTied), bare = autoencoder();
  Network network = compile(tied, 4);
  testing::stir(network);
  Model model;
  model.config = tied;
  take_from(network, model);
  const Started same = start_from(model, tied, {});
  CHECK(same.model.parameters == model.parameters);
  // Without the tie, the decoder has a weight, which there is none for.
  CHECK(start_from(model, bare, {}).transfer.drawn == Names{"back"});
}

TEST_CASE("ties are written and read again", "[tied]") {
  const NetworkConfig config = graph(kWeb, R"("made")");
  const Json resolved = to_json(config);
  CHECK(resolved["nodes"][1]["tied_to"] == "code");
  CHECK_FALSE(resolved["nodes"][0].contains("tied_to"));
  const NetworkConfig again = parse_network(dump_json(resolved), "'again'");
  CHECK(to_json(again) == resolved);
  CHECK(again.layers[3].tied_to == std::size_t{0});
  CHECK(summarise(config, layout_of(config))[1].parameters == 4);
}

std::string refusal(const std::string& nodes) {
  try {
    graph(nodes + R"(, {"name": "made", "type": "output", "units": 4,
                        "loss": "l2"})",
          R"("made")");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("ties that cannot be are refused", "[tied]") {
  const std::string code =
      R"({"name": "code", "type": "dense", "units": 3, "from": "x"})";
  const auto with = [&](const std::string& node) {
    return refusal(code + R"(, {"name": "back", "type": "dense",)" + node +
                   "}");
  };
  CHECK(with(R"("units": 4, "tied_to": "cod")") ==
        "'g.json': nodes[1].tied_to: no input or node is called 'cod'; did "
        "you mean 'code'?");
  CHECK(with(R"("units": 4, "tied_to": "x")") ==
        "'g.json': nodes[1].tied_to: 'x' is an input");
  CHECK(with(R"("units": 4, "tied_to": "back")") ==
        "'g.json': nodes[1].tied_to: 'back' is the node itself");
  CHECK(with(R"("units": 5, "tied_to": "code")") ==
        "'g.json': nodes[1] ('back'): it is tied to 'code', whose weight is "
        "[3, 4]; it has 3 inputs and 5 units, not 3 and 4");
  CHECK(with(R"("units": 4, "tied_to": "code"}, {"name": "third", "type":
                "dense", "units": 3, "tied_to": "back")") ==
        "'g.json': nodes[2].tied_to: 'back' is tied to 'code' itself; it has "
        "no weight");
  CHECK(with(R"("shares": "code"}, {"name": "third", "type": "dense",
                "units": 4, "tied_to": "back")") ==
        "'g.json': nodes[2].tied_to: 'back' shares those of 'code'; name that");
  CHECK(with(R"("units": 3}, {"name": "flat", "type": "flatten"}, {"name":
                "third", "type": "dense", "units": 4, "tied_to": "flat")") ==
        "'g.json': nodes[3] ('third'): it is tied to 'flat', which has no "
        "weight [units, inputs]");
}

}  // namespace
}  // namespace dl::nn::tied_test
