// Outputs that are compared with a value of the network instead of labels.

#include "libcore/nn/data/targets.h"
#include "libcore/nn/plan/plan.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::target_test {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using testing::compile;
using testing::sequence;

constexpr Position kAt{3, 0, 5};

// An autoencoder of [5] numbers; `more`: of its output.
NetworkConfig autoencoder(const std::string& more,
                          const std::string& input = "[5]") {
  return sequence(input, R"(
      {"type": "dense", "units": 3, "activation": "tanh"},
      {"type": "output", "units": 5, "loss": "mean_squared_error")" +
                             more + "}");
}
const std::string kFeatures = R"(, "target": "features")";

NetworkConfig graph(const std::string& nodes, const std::string& outputs) {
  return parse_network(
      R"({"seed": 3, "inputs": [{"name": "x", "shape": [4]}], "nodes": [)" +
          nodes + R"(], "outputs": )" + outputs + "}",
      "'g.json'");
}

struct Learnt {
  double loss;
  std::vector<double> gradient, outputs;
};

Learnt learn(const NetworkConfig& config, const Batch& batch,
             const data::Normalizers& normalizers, const char* device,
             int lanes) {
  Network network(config, normalizers, batch.examples(),
                  device::open_lanes(device, lanes), true);
  Learnt learnt;
  learnt.loss = network.compute_gradient(batch, kAt);
  learnt.gradient = testing::values(network, network.update());
  std::vector<Prediction> outputs;
  network.predict(batch.inputs, outputs);
  for (const float y : outputs[0].values.as<float>())
    learnt.outputs.push_back(y);
  return learnt;
}

TEST_CASE("an input as the target is what labels of the same numbers are",
          "[target]") {
  testing::Examples e = testing::random_examples(autoencoder(""), 7);
  e.labels = e.features;
  const data::Normalizer scaled{
      "standardize", {1, 2, 3, 4, 5}, {2, 0.5, 1, 1, 4}};
  for (const auto& [device, lanes] :
       {std::pair{"reference", 1}, {"cpu", 1}, {"cpu", 3}}) {
    const Learnt want =
        learn(autoencoder(""), e.batch(), {scaled, scaled}, device, lanes);
    testing::Examples bare = e;
    bare.labels = {};
    Network network = compile(autoencoder(kFeatures), 7);
    data::DataSet set;
    set.tensors["features"] = e.features;
    const Learnt got = learn(autoencoder(kFeatures), network.batch_of(set),
                             {scaled}, device, lanes);
    CHECK(got.loss == want.loss);
    CHECK(got.gradient == want.gradient);
    CHECK(got.outputs == want.outputs);
  }
}

TEST_CASE("padding of a target is not learnt", "[target]") {
  const auto config = [](const char* more) {
    return sequence("[4, 3]", std::string(R"(
        {"type": "gru", "units": 2, "return_sequences": true},
        {"type": "output", "units": 3, "loss": "mean_squared_error")") +
                                  more + "}");
  };
  testing::Examples e = testing::random_examples(config(""), 6);
  e.labels = e.features;
  e.features_mask = testing::lengths_mask(6, 4);
  const Learnt want = learn(config(""), e.batch(), {}, "reference", 2);
  const Learnt got =
      learn(config(R"(, "target": "features")"), e.batch(), {}, "reference", 2);
  CHECK(got.loss == want.loss);
  CHECK(got.gradient == want.gradient);
  // It is the mask that does it.
  e.features_mask = {};
  CHECK(
      learn(config(R"(, "target": "features")"), e.batch(), {}, "reference", 2)
          .loss != want.loss);
}

TEST_CASE("no gradient flows into a target", "[target]") {
  const std::string code = R"({"type": "dense", "name": "code", "units": 3,
      "activation": "tanh", "from": "x"},
      {"type": "output", "name": "end", "units": 2,
       "loss": "negative_log_likelihood", "from": "code"})";
  const std::string other = R"(, {"type": "output", "name": "guess",
      "units": 3, "loss": "mean_squared_error", "target": "code",
      "from": "x"})";
  const NetworkConfig one = graph(code, R"("end")"),
                      two = graph(code + other, R"(["end", "guess"])");
  const data::DataSet set = testing::random_set(one, 6);
  data::DataSet named = testing::random_set(two, 6);
  named.tensors["labels/end"] = set.tensors.at("labels");
  Network single = compile(one, 6), both = compile(two, 6, "reference", 2);
  single.compute_gradient(single.batch_of(set), kAt);
  const Batch batch = both.batch_of(named);
  both.compute_gradient(batch, kAt);
  const auto alone = testing::values(single, single.update()),
             all = testing::values(both, both.update());
  const auto shared = static_cast<std::ptrdiff_t>(alone.size());
  CHECK(testing::distance(alone, {all.begin(), all.begin() + shared}) < 1e-12);
  // The output compared with it does learn.
  const auto loss = [&] { return both.compute_gradient(batch, kAt); };
  const Segment& weight = both.parameter_segments()[4];
  REQUIRE(weight.name == "guess/weight");
  std::vector<double> w = testing::values(both, both.parameters());
  const auto i = static_cast<std::size_t>(weight.offset);
  const auto at = [&](double x) {
    std::vector<double> moved = w;
    moved[i] += x;
    testing::assign(both, both.parameters(), moved);
    return loss();
  };
  CHECK((at(1e-4) - at(-1e-4)) / 2e-4 == Approx(all[i]).epsilon(1e-6));
}

TEST_CASE("a target that another layer would write over is kept", "[target]") {
  // dropout and activation work in place; the dense layer behind is what fuses.
  const auto nodes = [](const std::string& target) {
    return R"({"type": "dense", "name": "d", "units": 4, "from": "x"},
      {"type": "activation", "name": "a", "activation": "tanh"},
      {"type": "dropout", "name": "o", "rate": 0.5},
      {"type": "output", "name": "end", "units": 4,
       "loss": "mean_squared_error", "target": ")" +
           target + R"("})";
  };
  for (const std::string target : {"x", "d", "a", "o"}) {
    CAPTURE(target);
    const NetworkConfig config = graph(nodes(target), R"("end")");
    const data::DataSet set = testing::random_set(config, 5);
    Network reference = compile(config, 5), cpu = compile(config, 5, "cpu", 2);
    const double want =
        reference.compute_gradient(reference.batch_of(set), kAt);
    // By hand: without dropout the loss is that of what predict() gives.
    CHECK(cpu.compute_gradient(cpu.batch_of(set), kAt) ==
          Approx(want).epsilon(1e-5));
    CHECK(testing::distance(testing::values(reference, reference.update()),
                            testing::values(cpu, cpu.update())) < 1e-5);
  }
  const NetworkConfig config = graph(
      R"({"type": "dense", "name": "d", "units": 4, "from": "x"},
         {"type": "activation", "name": "a", "activation": "tanh"},
         {"type": "output", "name": "end", "units": 4,
          "loss": "mean_squared_error", "target": "d"})",
      R"("end")");
  const Plan plan = plan_of(config, layout_of(config), true);
  CHECK(plan.steps.size() == 3);  // nothing is fused away
  CHECK(plan.values[1] != plan.values[2]);
}

TEST_CASE("outputs of a target are in the units of the input, in its shape",
          "[target]") {
  const NetworkConfig config = sequence("[2, 2, 1]", R"(
      {"type": "dense", "units": 4, "activation": "sigmoid"},
      {"type": "output", "units": 4, "loss": "binary_cross_entropy",
       "target": "features"})");
  Network network(config, data::Normalizer{"scale", {0}, {1.0 / 255}}, 2,
                  device::open_lanes("reference", 1), true);
  data::DataSet set;
  set.tensors["features"] = Tensor(DType::kU8, {1, 4});
  set.tensors["features"].as<std::uint8_t>()[2] = 255;
  const Batch& batch = network.batch_of(set);
  for (int i = 0; i < 2; ++i) CHECK(testing::train(network, batch, i) > 0);
  std::vector<Prediction> outputs;
  network.predict(batch.inputs, outputs);
  CHECK(outputs[0].values.value(0) > 30);
  Tensor room;
  CHECK(network.labels(batch, 0, outputs[0].values, room).shape() ==
        Shape{1, 4});
  // A probability of something of mean 0 is none.
  CHECK_THROWS_WITH(Network(config, data::Normalizer{"standardize", {1}, {2}},
                            2, device::open_lanes("reference", 1), true),
                    Catch::Contains("--normalize minmax"));
}

TEST_CASE("targets that do not fit are refused", "[target]") {
  const auto refusal = [](const auto& make) -> std::string {
    try {
      make();
    } catch (const Error& e) {
      CHECK(e.code() == Code::kConfig);
      return e.what();
    }
    return "";
  };
  CHECK(refusal([] { autoencoder(kFeatures, "[6]"); }) ==
        "'test.json': layers[1] ('output1'): it gives [5], its target is [6]");
  CHECK(refusal([] { autoencoder(R"(, "target": "featurs")"); }) ==
        "'test.json': layers[1].target: no input or node is called 'featurs'");
  CHECK(refusal([] { autoencoder(R"(, "target": "output1")"); }) ==
        "'test.json': layers[1].target: 'output1' is the node itself");
  CHECK(refusal([] {
          sequence("[4, 3]",
                   R"({"type": "lstm", "units": 3},
                      {"type": "output", "units": 12, "target": "features",
                       "loss": "mean_squared_error"})");
        }) ==
        "'test.json': layers[1] ('output1'): it gives [12], its target is "
        "[4, 3]");
  // "labels" is what it is without.
  CHECK(!autoencoder(R"(, "target": "labels")").layers[1].target);
  const NetworkConfig kept = autoencoder(kFeatures);
  CHECK(parse_network(to_json(kept).dump(), "again").layers[1].target ==
        std::optional<Value>(0));
}

TEST_CASE("an autoencoder wants no labels of its data", "[target]") {
  data::Metadata data;
  data.schema["features"] = {DType::kF32, {5}};
  data.columns = {"a", "b", "c", "d", "e"};
  const NetworkConfig config = autoencoder(kFeatures);
  Network network = compile(config, 2);
  CHECK_NOTHROW(network.check_data(data));
  CHECK_THROWS_WITH(compile(autoencoder(""), 2).check_data(data),
                    Catch::Contains("no tensor 'labels'"));
  // Existing labels are another matter.
  data.schema["labels"] = {DType::kU8, {}};
  data.classes = {"x", "y", "z", "u", "v", "w"};
  CHECK_NOTHROW(network.check_data(data));
  CHECK(output_names(config, data) == data.columns);
  CHECK_FALSE(are_classes(data, config));
  std::string note;
  CHECK(fit_targets("auto", config, data, note).changes_nothing());
  CHECK(note.empty());
}

TEST_CASE("copies of an example are compared with the same", "[target]") {
  // Two towers, one behind the other, of one output.
  const auto nodes = [](const std::string& end) {
    return R"({"type": "dense", "name": "a", "units": 3, "from": "x"},
      {"type": "dense", "name": "b", "units": 3, "from": "x"},
      {"type": "stack", "name": "s", "from": ["a", "b"]}, )" +
           end;
  };
  const NetworkConfig both =
      graph(nodes(R"({"type": "output", "name": "end", "units": 4,
                      "loss": "mean_squared_error", "target": "x"})"),
            R"("end")");
  const data::DataSet set = testing::random_set(both, 4);
  Network network = compile(both, 4, "reference", 2);
  const Batch batch = network.batch_of(set);
  const auto loss = [&] { return network.compute_gradient(batch, kAt); };
  const double all = loss();
  CHECK(testing::gradient_error(network,
                                testing::values(network, network.update()), 20,
                                loss) <= testing::kTolerance);
  double sum = 0;
  for (const char* index : {"0", "1"}) {
    const NetworkConfig one =
        graph(nodes(R"({"type": "unstack", "name": "u", "index": )" +
                    std::string(index) +
                    R"(}, {"type": "output", "name": "end", "units": 4,
                     "loss": "mean_squared_error", "target": "x"})"),
              R"("end")");
    Network single = compile(one, 4);
    sum += single.compute_gradient(single.batch_of(set), kAt);
  }
  CHECK(all == Approx(sum / 2));
  std::vector<Prediction> outputs;
  network.predict(batch.inputs, outputs);
  CHECK(outputs[0].values.shape() == Shape{4, 4});
}

TEST_CASE("a target that its loss cannot take is refused where it is known") {
  const auto refusal = [](const std::string& activation,
                          const std::string& loss) -> std::string {
    try {
      graph(R"({"name": "a", "type": "dense", "units": 3, "from": "x",
                "activation": ")" +
                activation + R"("},
            {"name": "b", "type": "dense", "units": 2},
            {"name": "c", "type": "output", "units": 3, "target": "a",
             "loss": ")" +
                loss + "\"}",
            R"("c")");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refusal("tanh", "binary_cross_entropy") ==
        "'g.json': nodes[2].loss: 'binary_cross_entropy' wants targets of 0 to "
        "1, and 'a' may give others; want another activation there, or another "
        "loss, as mean_squared_error");
  CHECK(refusal("sigmoid", "binary_cross_entropy").empty());
  CHECK(refusal("relu", "binary_cross_entropy").find("0 to 1") !=
        std::string::npos);
  CHECK(refusal("relu", "poisson").empty());
  CHECK(refusal("identity", "poisson").find("0 or more") != std::string::npos);
  CHECK(refusal("tanh", "mean_squared_error").empty());
}

}  // namespace
}  // namespace dl::nn::target_test
