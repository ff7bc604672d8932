// Layers that take each step of a sequence by itself.

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::time_distributed_test {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr Position kAt{3, 0, 5};

const std::string kFilm = R"(
    {"type": "conv2d", "filters": 3, "kernel": [2, 2], "activation": "tanh",
     "time_distributed": true},
    {"type": "max_pool2d", "kernel": [2, 2], "time_distributed": true},
    {"type": "dropout", "rate": 0.3, "time_distributed": true},
    {"type": "flatten", "time_distributed": true},
    {"type": "lstm", "units": 3},
    {"type": "output", "units": 2, "loss": "negative_log_likelihood"})";

std::vector<double> gradient(const NetworkConfig& config, int lanes,
                             double* error = nullptr) {
  Network network = testing::compile(config, 5, "reference", lanes);
  testing::stir(network);
  const testing::Examples data = testing::random_examples(config, 5);
  const auto loss = [&] { return network.compute_gradient(data.batch(), kAt); };
  loss();
  std::vector<double> g = testing::values(network, network.update());
  if (error) *error = testing::gradient_error(network, g, 20, loss);
  return g;
}

TEST_CASE("gradients of films whose pictures are convolved one by one",
          "[gradient]") {
  const NetworkConfig config = testing::sequence("[4, 5, 5, 2]", kFilm);
  double error = 1;
  const auto alone = gradient(config, 1, &error);
  CHECK(error <= testing::kTolerance);
  // The choice of dropped numbers does not depend on who computes it.
  CHECK(testing::distance(alone, gradient(config, 3)) < 1e-12);
}

TEST_CASE("gradients of films of different lengths, made by reshape",
          "[gradient]") {
  const NetworkConfig config = testing::sequence("[4, 18]", R"(
    {"type": "gru", "units": 18, "return_sequences": true},
    {"type": "reshape", "shape": [4, 3, 3, 2]}, {"type": "batch_norm"},
    {"type": "conv2d", "filters": 3, "kernel": [2, 2], "activation": "tanh",
     "time_distributed": true},
    {"type": "flatten", "time_distributed": true}, {"type": "last_step"},
    {"type": "output", "units": 2, "loss": "negative_log_likelihood"})");
  for (const int lanes : {1, 2}) {
    Network network = testing::compile(config, 4, "reference", lanes);
    testing::stir(network);
    testing::Examples data = testing::random_examples(config, 4);
    data.features_mask = testing::lengths_mask(4, 4);
    const auto loss = [&] {
      return network.compute_gradient(data.batch(), kAt);
    };
    loss();
    const auto g = testing::values(network, network.update());
    CHECK(testing::gradient_error(network, g, 10, loss, 1e-4) <=
          testing::kTolerance);
    // Padding does not matter.
    const double before = loss();
    for (std::size_t i = 1 * 18; i < 4 * 18; ++i)
      data.features.as<double>()[i] = 100;  // of an example of one step
    CHECK(loss() == Approx(before).epsilon(1e-12));
  }
}

TEST_CASE("each step gets what it would get as an example") {
  const std::string layers = R"(
    {"type": "conv2d", "name": "c", "filters": 3, "kernel": [3, 3],
     "activation": "relu"EACH},
    {"type": "batch_norm", "name": "b"},
    {"type": "average_pool2d", "kernel": [2, 2]EACH},
    {"type": "dense", "name": "d", "units": 4},
    {"type": "loss", "units": 4, "loss": "mean_squared_error"})";
  const auto with = [&](const std::string& shape, const std::string& each) {
    std::string text = layers;
    for (std::size_t at; (at = text.find("EACH")) != std::string::npos;)
      text.replace(at, 4, each);
    return testing::sequence(shape, text);
  };
  const NetworkConfig films =
      with("[3, 6, 6, 2]", R"(, "time_distributed": true)");
  for (const char* device : {"reference", "cpu"}) {
    Network one = testing::compile(with("[6, 6, 2]", ""), 6, device, 1, false),
            all = testing::compile(films, 2, device, 2, false);
    CHECK(all.output() == Shape{3, 4});
    one.initialise();
    testing::stir(one);
    testing::assign(all, all.parameters(),
                    testing::values(one, one.parameters()));
    testing::assign(all, all.statistics(),
                    testing::values(one, one.statistics()));
    Tensor x = testing::random_examples(films, 2).features;
    const auto together = testing::predict(all, x);
    Tensor steps(DType::kF64, {6, 6, 6, 2});
    std::ranges::copy(x.as<double>(), steps.as<double>().begin());
    CHECK(testing::distance(testing::predict(one, steps), together) < 1e-6);
  }
}

TEST_CASE("what cannot be taken step by step is refused") {
  const auto refusal = [](const std::string& shape, const std::string& layer) {
    try {
      testing::sequence(shape, layer + R"(, {"type": "output", "units": 2,
                                           "loss": "mean_squared_error"})");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("taken");
  };
  CHECK(refusal("[4, 3]", R"({"type": "lstm", "units": 2,
                              "time_distributed": true})") ==
        "'test.json': layers[0] ('lstm1'): time_distributed is for types of "
        "one input that do not read sequences themselves");
  CHECK(refusal("[4, 2]", R"({"type": "activity_regularization", "l1": 1,
                              "time_distributed": true})") ==
        "'test.json': layers[0] ('activity_regularization1'): "
        "time_distributed: what it adds to the loss is of an example, not of a "
        "step");
  CHECK_THAT(refusal("[4, 2]", R"({"type": "batch_norm",
                                   "time_distributed": true})"),
             Catch::Contains("takes sequences as they are"));
  CHECK(refusal("[4]", R"({"type": "dense", "units": 2,
                           "time_distributed": true})") ==
        "'test.json': layers[0] ('dense1'): time_distributed is for sequences "
        "[steps, ...], its input is [4]");
}

TEST_CASE("a document keeps that a layer is time distributed") {
  const NetworkConfig config = testing::sequence("[4, 5, 5, 2]", kFilm);
  const Json resolved = to_json(config);
  CHECK(resolved["layers"][0]["time_distributed"] == true);
  CHECK_FALSE(resolved["layers"][4].contains("time_distributed"));
  CHECK(to_json(parse_network(resolved.dump(), "'again'")) == resolved);
}

}  // namespace
}  // namespace dl::nn::time_distributed_test
