// Graphs: how nodes are joined, what is refused, and what is shared.

#include <catch2/catch.hpp>

#include "libcore/nn/plan/plan.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::graph_test {
namespace {

using testing::compile;

constexpr Position kAt{3, 0, 5};

NetworkConfig graph(const std::string& inputs, const std::string& nodes,
                    const std::string& outputs) {
  return parse_network(R"({"seed": 3, "inputs": [)" + inputs +
                           R"(], "nodes": [)" + nodes + R"(], "outputs": )" +
                           outputs + "}",
                       "'g.json'");
}

const std::string kTwo = R"({"name": "left", "shape": [4]},
                            {"name": "right", "shape": [4]})";
const std::string kEnd = R"({"type": "output", "name": "end", "units": 2,
                             "loss": "negative_log_likelihood"})";

std::string refusal(const std::string& nodes, const std::string& outputs,
                    const std::string& inputs = kTwo) {
  try {
    graph(inputs, nodes, outputs);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kConfig);
    return e.what();
  }
  return "";
}

std::string merged(const std::string& from) {
  return R"({"type": "merge", "name": "m", "from": )" + from + "}, " + kEnd;
}

TEST_CASE("nodes may stand in any order, and are computed in one that works",
          "[graph]") {
  const NetworkConfig config = graph(kTwo,
                                     R"(
      {"type": "output", "name": "end", "units": 2, "from": "sum",
       "loss": "negative_log_likelihood"},
      {"type": "add", "name": "sum", "from": ["a", "b"]},
      {"type": "dense", "name": "b", "units": 3, "from": "right"},
      {"type": "dense", "name": "a", "units": 3, "from": "left"})",
                                     R"("end")");
  std::string order;
  for (const LayerConfig& layer : config.layers) order += layer.name + " ";
  CHECK(order == "b a sum end ");
  CHECK(config.layers[2].from == std::vector<Value>{3, 2});
  CHECK(config.outputs == std::vector<std::size_t>{3});
  CHECK(config.layers[3].place == "nodes[0]");
  // The resolved form is the same network.
  const Json resolved = to_json(config);
  CHECK(to_json(parse_network(resolved.dump(), "again")) == resolved);
}

TEST_CASE("what is wrong with a graph is listed with its place", "[graph]") {
  CHECK(refusal(merged(R"(["lft", "right", "m2"])"), R"("end")") ==
        "'g.json': nodes[0].from: no input or node is called 'lft'; did you "
        "mean 'left'?\n"
        "'g.json': nodes[0].from: no input or node is called 'm2'");
  CHECK(refusal(merged(R"("left")"), R"("end")") ==
        "'g.json': nodes[0].from: merge wants 2 or more, got 1");
  CHECK(
      refusal(merged(R"(["left", "right"])"), R"(["end", "m", "x", "end"])") ==
      "'g.json': outputs[1]: 'm' has no loss; want an output layer\n"
      "'g.json': outputs[2]: no input or node is called 'x'\n"
      "'g.json': outputs[3]: 'end' is named twice");
  CHECK(refusal(kEnd, R"("end")") ==
        "'g.json': inputs[1].name: no output depends on 'right'");
  CHECK(refusal(R"({"type": "flatten", "name": "f", "from": "left"}, )" +
                    merged(R"(["left", "right"])"),
                R"("end")") ==
        "'g.json': nodes[0].name: no output depends on 'f'; lead it to one, or "
        "leave it out");
  CHECK(refusal(R"({"type": "add", "name": "a", "from": ["left", "c"]},
                   {"type": "add", "name": "b", "from": ["right", "a"]},
                   {"type": "add", "name": "c", "from": ["b", "b"]}, )" +
                    kEnd,
                R"("end")") ==
        "'g.json': nodes[0].from: 'a' depends on itself, by 'c', 'b'");
  CHECK(refusal(R"({"type": "dense", "name": "left", "units": 2}, )" + kEnd,
                R"("end")") ==
        "'g.json': nodes[0].name: 'left' is the name of inputs[0] already");
  CHECK(refusal(R"({"type": "dense", "name": "a", "units": 2},
                   {"type": "flatten", "name": "b", "shares": "a"},
                   {"type": "dense", "name": "c", "shares": "left"},
                   {"type": "dense", "name": "d", "shares": "a", "units": 3},
                   {"type": "dense", "name": "e", "shares": "d"}, )" +
                    kEnd,
                R"("end")") ==
        "'g.json': nodes[3].units: 'a', whose parameters it shares, says that\n"
        "'g.json': nodes[1].shares: 'a' is of type dense, this node of "
        "flatten\n"
        "'g.json': nodes[2].shares: 'left' is an input\n"
        "'g.json': nodes[4].shares: 'd' shares those of 'a'; name that");
  CHECK(refusal(R"({"type": "dense", "name": "a", "units": 2},
                   {"type": "merge", "name": "m", "from": ["left", "right"]},
                   {"type": "dense", "name": "b", "shares": "a"},
                   {"type": "add", "name": "s", "from": ["a", "b"]}, )" +
                    kEnd,
                R"("end")") ==
        "'g.json': nodes[2] ('b'): its input does not fit the parameters of "
        "'a'");
  CHECK(refusal(R"({"type": "dense", "name": "a", "units": 2},
                   {"type": "add", "name": "s", "from": ["a", "right"]}, )" +
                    kEnd,
                R"("end")") ==
        "'g.json': nodes[1] ('s'): its inputs are [2] and [4]; want inputs of "
        "one shape");
  CHECK(refusal(R"({"type": "output", "name": "other", "units": 2,
                    "loss": "mean_squared_error"}, )" +
                    merged(R"(["other", "right"])"),
                R"("end")") ==
        "'g.json': nodes[0].type: a layer with a loss; name 'other' in "
        "outputs");
}

const std::string kTwins = R"(
    {"type": "dense", "name": "a", "units": 3, "activation": "tanh",
     "from": "left"},
    {"type": "dense", "name": "b", "shares": "a", "from": "right"},
    {"type": "subtract", "name": "d", "from": ["a", "b"]}, )";

TEST_CASE("nodes that share have one set of parameters", "[graph][gradient]") {
  const NetworkConfig config = graph(kTwo, kTwins + kEnd, R"("end")");
  const Layout layout = layout_of(config);
  REQUIRE(layout.parameters.size() == 4);
  CHECK(layout.parameters[0].name == "a/weight");
  CHECK(layout.parameters[2].name == "end/weight");
  for (const int lanes : {1, 2}) {
    Network network = compile(config, 4, "reference", lanes);
    testing::stir(network);
    const data::DataSet set = testing::random_set(config, 4);
    const Batch batch = network.batch_of(set);
    const auto loss = [&] { return network.compute_gradient(batch, kAt); };
    loss();
    const auto gradient = testing::values(network, network.update());
    CHECK(testing::gradient_error(network, gradient, 40, loss) <=
          testing::kTolerance);
  }
}

TEST_CASE("the losses of several outputs are added by their weights",
          "[graph]") {
  const auto loss_of = [](const std::string& outputs,
                          const std::string& nodes) {
    const NetworkConfig config =
        graph(R"({"name": "x", "shape": [4]})", nodes, outputs);
    Network network = compile(config, 3);
    data::DataSet set = testing::random_set(config, 3);
    // The same labels, however many outputs there are.
    for (const char* name : {"p", "q"})
      for (const std::string& tensor :
           {std::string("labels"), std::string("labels/") + name}) {
        const auto it = set.tensors.find(tensor);
        if (it == set.tensors.end()) continue;
        it->second = tensor::Tensor(tensor::DType::kI32, {3});
        it->second.as<std::int32_t>()[1] = 1;
      }
    // Weights that do not depend on the place of the layer.
    std::vector<double> w = testing::values(network, network.parameters());
    for (std::size_t i = 0; i < w.size(); ++i)
      w[i] = 0.1 * static_cast<double>(i % 10);
    testing::assign(network, network.parameters(), w);
    return network.compute_gradient(network.batch_of(set), kAt);
  };
  constexpr char kP[] = R"({"type": "output", "name": "p", "units": 2,
      "from": "x", "loss": "negative_log_likelihood"})";
  constexpr char kBoth[] = R"({"type": "output", "name": "p", "units": 2,
      "from": "x", "loss": "negative_log_likelihood"},
      {"type": "output", "name": "q", "units": 2, "from": "x",
      "loss": "negative_log_likelihood"})";
  const double one = loss_of(R"("p")", kP);
  CHECK(loss_of(R"(["p", "q"])", kBoth) == 2 * one);
  const auto weighed = [&](const char* weight) {
    std::string nodes = kBoth;
    nodes.insert(nodes.rfind('}'),
                 std::string(R"(, "loss_weight": )") + weight);
    return loss_of(R"(["p", "q"])", nodes);
  };
  CHECK(weighed("1") == 2 * one);
  CHECK(weighed("0.25") == Approx(1.25 * one));
  CHECK(weighed("0") == one);
}

TEST_CASE("gradients go by the weight of their loss", "[graph][gradient]") {
  const NetworkConfig config = graph(R"({"name": "x", "shape": [4]})", R"(
      {"type": "dense", "name": "a", "units": 3, "activation": "tanh"},
      {"type": "output", "name": "p", "units": 2, "from": "a",
       "loss": "negative_log_likelihood", "loss_weight": 0.25},
      {"type": "output", "name": "q", "units": 2, "from": "a",
       "activation": "tanh", "loss": "mean_squared_error", "loss_weight": 3})",
                                     R"(["p", "q"])");
  for (const int lanes : {1, 2}) {
    Network network = compile(config, 4, "reference", lanes);
    testing::stir(network);
    const data::DataSet set = testing::random_set(config, 4);
    const Batch batch = network.batch_of(set);
    const auto loss = [&] { return network.compute_gradient(batch, kAt); };
    loss();
    const auto gradient = testing::values(network, network.update());
    CHECK(testing::gradient_error(network, gradient, 40, loss) <=
          testing::kTolerance);
  }
}

TEST_CASE("buffers that are in use together do not overlap", "[graph]") {
  const std::vector<PlannedBuffer> buffers{{100, 0, 2}, {50, 1, 3}, {70, 3, 4},
                                           {10, 2, 2},  {90, 4, 5}, {1, 0, 5}};
  const Places places = place(buffers, 3);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const PlannedBuffer& a = buffers[i];
    all += 3 * a.elements;
    CHECK(places.offsets[i] % 16 == 0);
    CHECK(places.offsets[i] + 3 * a.elements <= places.elements);
    for (std::size_t k = 0; k < i; ++k) {
      const PlannedBuffer& b = buffers[k];
      if (a.first > b.last || b.first > a.last) continue;
      const bool apart =
          places.offsets[i] + 3 * a.elements <= places.offsets[k] ||
          places.offsets[k] + 3 * b.elements <= places.offsets[i];
      CHECK(apart);
    }
  }
  CHECK(places.elements < all);
}

TEST_CASE("a chain for prediction needs its two widest neighbors", "[graph]") {
  const NetworkConfig config = testing::sequence("[16]", R"(
      {"type": "dense", "units": 320}, {"type": "dense", "units": 160},
      {"type": "dense", "units": 160}, {"type": "dense", "units": 32},
      {"type": "output", "units": 2, "loss": "mean_squared_error"})");
  const Layout layout = layout_of(config);
  const Plan plan = plan_of(config, layout, false);
  CHECK(place(plan.buffers, 1).elements == 320 + 160);
}

TEST_CASE("a residual block adds its gradients without copies", "[graph]") {
  const NetworkConfig config = graph(R"({"name": "x", "shape": [4]})", R"(
      {"type": "dense", "name": "a", "units": 4, "from": "x"},
      {"type": "dense", "name": "b", "units": 4, "activation": "relu"},
      {"type": "dense", "name": "c", "units": 4},
      {"type": "add", "name": "s", "from": ["c", "a"]}, )" + kEnd,
                                     R"("end")");
  const Plan plan = plan_of(config, layout_of(config), true);
  std::size_t sums = 0;
  for (const BackwardStep& step : plan.backward) {
    CHECK(step.copied == kNoBuffer);
    for (const BackwardStep::Sum& sum : step.sums) {
      CHECK_FALSE(sum.copies);
      ++sums;
    }
  }
  CHECK(sums == 1);
}

TEST_CASE("batch normalization and relu become one where none reads between",
          "[graph]") {
  const auto steps = [](const std::string& activation, const char* shortcut) {
    const NetworkConfig config =
        graph(R"({"name": "x", "shape": [4]})",
              R"({"type": "batch_norm", "name": "n", "from": "x"},
      {"type": "activation", "name": "a", "activation": ")" +
                  activation + R"("},
      {"type": "add", "name": "s", "from": ["a", ")" +
                  shortcut + R"("]}, )" + kEnd,
              R"("end")");
    return plan_of(config, layout_of(config), true).steps.size();
  };
  CHECK(steps("relu", "x") == 3);
  CHECK(steps("relu", "n") == 4);
  CHECK(steps("tanh", "x") == 4);
}

TEST_CASE("a layer without parameters may be shared as well") {
  const NetworkConfig config = parse_network(R"({
      "inputs": [{"name": "x", "shape": [4]}],
      "nodes": [
        {"name": "a", "type": "dropout"},
        {"name": "b", "type": "dropout", "shares": "a"},
        {"name": "o", "type": "output", "units": 2, "loss": "l2"}],
      "outputs": "o"})",
                                             "'g.json'");
  Network network = testing::compile(config, 3, "reference", 2);
  const data::DataSet set = testing::random_set(config, 3);
  const Batch batch = network.batch_of(set);
  CHECK(std::isfinite(testing::train(network, batch, 0)));
}

}  // namespace
}  // namespace dl::nn::graph_test
