// Losses that say how likely what went in is: their layers, what they predict,
// and outputs that are each of some columns of an input.

#include <cmath>

#include "libcore/nn/data/targets.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/predict/latent.h"
#include "libcore/nn/predict/part_of.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::reconstruction_test {
namespace {

using tensor::DType;
using tensor::Tensor;
using testing::compile;
using testing::sequence;
using testing::values;
using Numbers = std::vector<double>;

constexpr Position kAt{3, 0, 5};

Numbers reals(const Tensor& t) {
  return {t.as<float>().begin(), t.as<float>().end()};
}

// By the layer that has the weights, and by one that has none.
NetworkConfig with_output(const std::string& shape, const std::string& more) {
  return sequence(shape, R"(
      {"type": "dense", "name": "a", "units": 3, "activation": "tanh"},
      {"type": "output", "name": "made", "units": 2, "loss": "gaussian")" +
                             more + "}");
}
NetworkConfig with_loss(const std::string& shape, const std::string& more) {
  return sequence(shape, R"(
      {"type": "dense", "name": "a", "units": 3, "activation": "tanh"},
      {"type": "dense", "name": "both", "units": 4},
      {"type": "loss", "name": "made", "units": 2, "loss": "gaussian")" +
                             more + "}");
}

TEST_CASE("gaussian outputs give the means, and learn both", "[gradient]") {
  for (const std::string more :
       {"", R"(, "activation": "tanh")", R"(, "activation": "softplus")"}) {
    const NetworkConfig one = with_output("[4]", more),
                        two = with_loss("[4]", more);
    CHECK(layout_of(one).layers.back().output.shape == tensor::Shape{2});
    const testing::Examples e = testing::random_examples(one, 5);
    Network whole = compile(one, 5), parted = compile(two, 5, "reference", 3);
    testing::stir(whole);
    testing::assign(parted, parted.parameters(),
                    values(whole, whole.parameters()));
    const auto loss = [&] { return whole.compute_gradient(e.batch(), kAt); };
    const double first = loss();
    CHECK(first == Approx(parted.compute_gradient(e.batch(), kAt)));
    const Numbers gradient = values(whole, whole.update());
    CHECK(testing::distance(gradient, values(parted, parted.update())) < 1e-12);
    CHECK(testing::gradient_error(whole, gradient, 40, loss) <=
          testing::kTolerance);
    // The prediction is the first half of the values before.
    Model model;
    model.config = two;
    take_from(parted, model);
    const Model before = part_of(model, {}, std::vector<std::string>{"both"});
    const auto predict = [&](const Model& of, const char* device) {
      Network network = compile(of.config, 5, device, 2, false);
      put_into(network, of);
      Tensor out;
      network.predict(e.features, out);
      return reals(out);
    };
    const Numbers both = predict(before, "reference");
    Model direct = model;
    direct.config = one;
    for (const char* device : {"reference", "cpu"}) {
      const Numbers made = predict(model, device);
      CHECK(testing::distance(made, predict(direct, device)) < 1e-6);
      REQUIRE(made.size() == 10);
      for (std::size_t i = 0; i < 10; ++i) {
        const double x = both[i / 2 * 4 + i % 2];
        CHECK(made[i] == Approx(more.empty()      ? x
                                : more[17] == 't' ? std::tanh(x)
                                                  : std::log1p(std::exp(x)))
                             .margin(1e-6));
      }
    }
  }
}

TEST_CASE("gaussian outputs of sequences and of several samples",
          "[gradient]") {
  const NetworkConfig steps = sequence("[3, 2]", R"(
      {"type": "gru", "units": 3, "return_sequences": true},
      {"type": "output", "units": 2, "loss": "gaussian"})");
  testing::Examples e = testing::random_examples(steps, 4);
  e.features_mask = testing::lengths_mask(4, 3);
  Network network = compile(steps, 4, "reference", 2);
  testing::stir(network);
  const auto loss = [&] { return network.compute_gradient(e.batch(), kAt); };
  loss();
  CHECK(testing::gradient_error(network, values(network, network.update()), 40,
                                loss) <= testing::kTolerance);
  // Copies of an example, and another node that reads the means.
  const NetworkConfig copies = parse_network(
      R"({"seed": 2, "inputs": [{"name": "x", "shape": [3]}], "nodes": [
        {"name": "code", "type": "dense", "units": 4, "from": "x"},
        {"name": "z", "type": "gaussian_latent", "samples": 3},
        {"name": "made", "type": "output", "units": 3, "loss": "gaussian",
         "target": "x"},
        {"name": "one", "type": "unstack", "index": 1, "from": "made"},
        {"name": "more", "type": "output", "units": 3,
         "loss": "mean_squared_error", "target": "x"}],
        "outputs": ["made", "more"]})",
      "'copies'");
  Network sampled = compile(copies, 4, "reference", 3);
  testing::stir(sampled);
  const data::DataSet set = testing::random_set(copies, 4);
  const Batch batch = sampled.batch_of(set);
  const auto of_copies = [&] { return sampled.compute_gradient(batch, kAt); };
  of_copies();
  CHECK(testing::gradient_error(sampled, values(sampled, sampled.update()), 40,
                                of_copies) <= testing::kTolerance);
}

// One column is yes or no, two are numbers, one is a time; as nodes.
const std::string kComposite = R"(
  {"inputs": [{"name": "x", "shape": [4]}], "seed": 6, "nodes": [
    {"name": "yes", "type": "subset", "begin": 0, "end": 1, "from": "x"},
    {"name": "reals", "type": "subset", "begin": 1, "end": 3, "from": "x"},
    {"name": "time", "type": "subset", "begin": 3, "end": 4, "from": "x"},
    {"name": "code", "type": "dense", "units": 4, "activation": "tanh",
     "from": "x"},
    @LATENT@
    {"name": "b", "type": "output", "units": 1, "from": "@Z@",
     "loss": "binary_cross_entropy", "target": "yes"},
    {"name": "g", "type": "output", "units": 2, "from": "@Z@",
     "loss": "gaussian", "target": "reals"},
    {"name": "e", "type": "output", "units": 1, "from": "@Z@",
     "loss": "exponential", "target": "time"}],
   "outputs": ["b", "g", "e"]})";

NetworkConfig composite(bool latent) {
  std::string text = kComposite;
  const auto put = [&](const std::string& mark, const std::string& what) {
    for (std::size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, mark.size(), what);
  };
  put("@LATENT@", latent ? R"({"name": "z", "type": "gaussian_latent"},)" : "");
  put("@Z@", latent ? "z" : "code");
  return parse_network(text, "'composite'");
}

data::DataSet examples(std::int64_t n) {
  Philox random(5, 5);
  data::DataSet set;
  Tensor& x = set.tensors["features"];
  x = Tensor(DType::kF32, {n, 4});
  for (std::int64_t i = 0; i < n; ++i) {
    const auto row = x.as<float>().subspan(static_cast<std::size_t>(4 * i), 4);
    row[0] = random.uniform() < 0.5 ? 0.0f : 1.0f;
    row[1] = static_cast<float>(10 + 3 * random.normal());
    row[2] = static_cast<float>(random.normal() - 4);
    row[3] = static_cast<float>(-std::log(1 - random.uniform()));
  }
  return set;
}

data::Metadata known_of(const data::DataSet& set) {
  data::Metadata data;
  data.schema["features"] = {DType::kF32, {4}};
  data.statistics.emplace();
  data.statistics->add(set.tensors.at("features"), nullptr);
  return data;
}

TEST_CASE("columns of an input are outputs' targets, each by its own loss",
          "[gradient]") {
  const NetworkConfig config = composite(false);
  const data::DataSet set = examples(6);
  const data::Normalizer scaled{
      "minmax", {0, 1, -8, 0}, {1, 0.05, 0.125, 0.25}};
  Network network(config, {scaled}, 6, device::open_lanes("reference", 2),
                  true);
  testing::stir(network);
  const Batch batch = network.batch_of(set);
  const auto loss = [&] { return network.compute_gradient(batch, kAt); };
  const double total = loss();
  CHECK(testing::gradient_error(network, values(network, network.update()), 40,
                                loss) <= testing::kTolerance);

  // The same by hand, from what comes before the losses.
  Model model;
  model.config = config;
  model.normalizers.inputs = {scaled};
  model.normalizers.outputs.resize(3);
  take_from(network, model);
  std::vector<Prediction> outputs;
  network.predict(batch.inputs, outputs);
  const Numbers b = reals(outputs[0].values), g = reals(outputs[1].values),
                e = reals(outputs[2].values);
  const Numbers w = values(network, network.parameters());
  Tensor code;
  Network coder =
      compile(part_of(model, {}, std::vector<std::string>{"code"}).config, 6,
              "reference", 1, false, scaled);
  put_into(coder, part_of(model, {}, std::vector<std::string>{"code"}));
  coder.predict(set.tensors.at("features"), code);
  const auto segment = [&](const char* name) {
    for (const Segment& s : network.parameter_segments())
      if (s.name == name) return static_cast<std::size_t>(s.offset);
    throw Error{Code::kBug, name};
  };
  const std::size_t gw = segment("g/weight"), gb = segment("g/bias");
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto x = set.tensors.at("features").as<float>().subspan(4 * i, 4);
    sum -= x[0] > 0 ? std::log(b[i]) : std::log(1 - b[i]);
    for (std::size_t j = 0; j < 2; ++j) {
      const double t = (x[1 + j] - scaled.shift[1 + j]) * scaled.scale[1 + j];
      double mean = w[gb + j], log_variance = w[gb + 2 + j];
      for (std::size_t k = 0; k < 4; ++k) {
        const double h = code.as<float>()[4 * i + k];
        mean += w[gw + 4 * j + k] * h;
        log_variance += w[gw + 4 * (2 + j) + k] * h;
      }
      const double away = t - mean;
      sum += 0.5 * (std::log(2 * M_PI) + log_variance +
                    away * away / std::exp(log_variance));
      // Predictions are in the units of the columns.
      CHECK(g[2 * i + j] ==
            Approx(mean / scaled.scale[1 + j] + scaled.shift[1 + j]));
    }
    // lambda x - gamma, gamma = log lambda
    const double lambda = 1 / (e[i] * scaled.scale[3]);
    sum += lambda * x[3] * scaled.scale[3] - std::log(lambda);
  }
  CHECK(total == Approx(sum / 6).epsilon(1e-5));

  // The targets that outputs are evaluated against.
  Tensor room;
  const Tensor& reals_of = network.labels(batch, 1, outputs[1].values, room);
  CHECK(reals_of.shape() == tensor::Shape{6, 2});
  CHECK(reals_of.value(3) == set.tensors.at("features").value(4 * 1 + 2));
}

TEST_CASE("normalizers leave bounded targets in their bounds", "[target]") {
  const NetworkConfig config = composite(false);
  const data::Metadata known = known_of(examples(100));
  // A column of times is to be 0 or more: not standardized.
  CHECK(fit_inputs("auto", config, known)[0].kind == "minmax");
  data::Normalizers normalizers;
  normalizers.inputs = fit_inputs("minmax", config, known);
  aim_normalizers(config, normalizers);
  CHECK(normalizers.output(1).shift ==
        Numbers{normalizers.input(0).shift[1], normalizers.input(0).shift[2]});
  normalizers.inputs = {data::Normalizer::fit("standardize", known)};
  CHECK_THROWS_WITH(aim_normalizers(config, normalizers),
                    "the target of 'b' is standardized, its loss wants 0..1: "
                    "use --normalize minmax");
  data::Metadata below = known;
  below.statistics->min[3] = -1;
  CHECK_NOTHROW(fit_inputs("none", config, known));
  CHECK_THROWS_WITH(fit_inputs("none", config, below),
                    "an output whose target is an input wants 0 or more, the "
                    "data have other values: use --normalize minmax");
  // Columns of zeros and ones stay, and with them what auto finds.
  const NetworkConfig two = parse_network(
      R"({"inputs": [{"name": "x", "shape": [4]}], "nodes": [
        {"name": "yes", "type": "subset", "begin": 0, "end": 1, "from": "x"},
        {"name": "b", "type": "output", "units": 1, "from": "x",
         "loss": "binary_cross_entropy", "target": "yes"}],
       "outputs": ["b"]})",
      "'two'");
  CHECK(fit_inputs("auto", two, known)[0].kind == "standardize");
}

TEST_CASE("labels below 0 are refused by exponential") {
  const NetworkConfig config = sequence(
      "[2]", R"({"type": "output", "units": 1, "loss": "exponential"})");
  testing::Examples e = testing::random_examples(config, 2);
  Network network = compile(config, 2);
  CHECK_NOTHROW(network.compute_gradient(e.batch(), kAt));
  e.labels.as<double>()[1] = -0.5;
  CHECK_THROWS_WITH(
      network.compute_gradient(e.batch(), kAt),
      "example 1 has the target -0.5, 'exponential' wants 0 or more");
}

TEST_CASE("what targets alone are made of is not trained", "[target]") {
  const auto refusal = [](const std::string& node) {
    try {
      parse_network(R"({"inputs": [{"name": "x", "shape": [4]}], "nodes": [
          {"name": "code", "type": "dense", "units": 4, "from": "x"},
          {"name": "aim", "from": "code", )" +
                        node + R"(},
          {"name": "end", "type": "output", "units": 4, "from": "code",
           "loss": "mean_squared_error", "target": "aim"}],
          "outputs": ["end"]})",
                    "'g.json'");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string tanh = R"("type": "activation", "activation": "tanh")";
  CHECK(refusal(tanh).empty());
  CHECK(refusal(R"("type": "dense", "units": 4)") ==
        "'g.json': nodes[1].name: only a target depends on 'aim', which would "
        "not be trained; freeze it");
  CHECK(refusal(R"("type": "dense", "units": 4, "frozen": true)").empty());
  CHECK(refusal(R"("type": "activity_regularization", "l1": 1)") ==
        "'g.json': nodes[1].name: only a target depends on 'aim', which is to "
        "add to the loss");
  // No gradient comes to the code from what it is to be.
  const NetworkConfig config = parse_network(
      R"({"inputs": [{"name": "x", "shape": [3]}], "nodes": [
        {"name": "code", "type": "dense", "units": 3, "from": "x"},
        {"name": "aim", "from": "code", )" +
          tanh + R"(},
        {"name": "end", "type": "output", "units": 3, "from": "x",
         "loss": "l2", "target": "aim"},
        {"name": "other", "type": "output", "units": 1, "from": "code",
         "loss": "l2", "loss_weight": 0}], "outputs": ["end", "other"]})",
      "'g.json'");
  Network network = compile(config, 4);
  const data::DataSet set = testing::random_set(config, 4);
  network.compute_gradient(network.batch_of(set), kAt);
  const Numbers gradient = values(network, network.update());
  CHECK(std::all_of(gradient.begin(), gradient.begin() + 12,
                    [](double g) { return g == 0; }));
  CHECK(std::any_of(gradient.begin() + 12, gradient.end(),
                    [](double g) { return g != 0; }));
}

}  // namespace
}  // namespace dl::nn::reconstruction_test
