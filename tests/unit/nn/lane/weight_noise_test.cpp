// Weights that are disturbed in training.

#include "libcore/nn/lane/weight_noise.h"

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::weight_noise_test {
namespace {

constexpr Position kAt{3, 0, 5};

NetworkConfig noisy(const std::string& noise) {
  return parse_network(R"({"seed": 4, "weight_noise": )" + noise + R"(,
      "inputs": [{"name": "a", "shape": [4, 3]}, {"name": "b", "shape": [3]}],
      "nodes": [
        {"name": "steps", "type": "lstm", "units": 3, "from": "a"},
        {"name": "one", "type": "dense", "units": 3, "activation": "tanh"},
        {"name": "two", "type": "dense", "shares": "one", "from": "b"},
        {"name": "sum", "type": "add", "from": ["one", "two"]},
        {"name": "end", "type": "output", "units": 2, "loss":
         "mean_squared_error", "weight_noise": {}}],
      "outputs": "end"})",
                       "'noisy.json'");
}

struct Trial {
  std::vector<double> gradient = {}, predicted = {};
  double error = 0, loss = 0;
};

Trial try_out(const std::string& noise, int lanes, const char* device,
              bool compare = false) {
  const NetworkConfig config = noisy(noise);
  Network network = testing::compile(config, 5, device, lanes);
  testing::stir(network);
  const data::DataSet set = testing::random_set(config, 5);
  const Batch batch = network.batch_of(set);
  const auto loss = [&] { return network.compute_gradient(batch, kAt); };
  Trial trial{.loss = loss()};
  trial.gradient = testing::values(network, network.update());
  if (compare)
    trial.error = testing::gradient_error(network, trial.gradient, 20, loss);
  std::vector<Prediction> out;
  network.predict(batch.inputs, out);
  trial.predicted.assign(out[0].values.as<float>().begin(),
                         out[0].values.as<float>().end());
  return trial;
}

TEST_CASE("gradients of disturbed weights, on any lanes", "[gradient]") {
  const Trial plain = try_out("{}", 1, "reference");
  for (const char* noise : {R"({"drop_connect": 0.3})", R"({"deviation": 0.2})",
                            R"({"deviation": 0.2, "multiplicative": true})"}) {
    INFO(noise);
    const Trial one = try_out(noise, 1, "reference", true);
    CHECK(one.error <= testing::kTolerance);
    CHECK(std::abs(one.loss - plain.loss) > 1e-4);
    // Predictions are made with the weights themselves.
    CHECK(one.predicted == plain.predicted);
    CHECK(testing::distance(one.gradient,
                            try_out(noise, 3, "reference").gradient) < 1e-12);
    CHECK(testing::distance(one.gradient, try_out(noise, 2, "cpu").gradient) <
          1e-5);
  }
}

TEST_CASE("dropping weights leaves their mean and is drawn anew each step") {
  const auto device = device::open_device("reference");
  Memory memory(*device);
  NoisyWeights noise(*device, memory, {.drop_connect = 0.25}, 1, 2);
  const auto w = memory.allocate({100000}), g = memory.allocate({100000});
  device->fill(w, 2);
  const auto copy = noise.add(w, g);
  const auto drawn = [&](std::uint64_t batch) {
    noise.draw({.training = true, .at = {0, 0, batch}});
    tensor::Tensor host(tensor::DType::kF64, copy.shape);
    device->download(host, copy);
    return std::vector<double>(host.as<double>().begin(),
                               host.as<double>().end());
  };
  const auto first = drawn(1), second = drawn(2);
  CHECK(first != second);
  CHECK(first == drawn(1));
  double sum = 0;
  for (const double x : first) {
    CHECK((x == 0 || x == 2 / 0.75));
    sum += x;
  }
  CHECK(sum / 1e5 == Approx(2).epsilon(0.01));
}

TEST_CASE("a document keeps what disturbs its weights") {
  const Json resolved =
      to_json(noisy(R"({"deviation": 0.2, "multiplicative": true})"));
  CHECK(resolved["nodes"][0]["weight_noise"]["deviation"] == 0.2);
  CHECK_FALSE(resolved["nodes"][4].contains("weight_noise"));
  CHECK(to_json(parse_network(resolved.dump(), "'again'")) == resolved);
}

}  // namespace
}  // namespace dl::nn::weight_noise_test
