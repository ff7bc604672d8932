// Activations in configurations, and where they meet other layers.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/layout.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::activation_test {
namespace {

using Catch::Matchers::Message;
using device::Activation;
using testing::compile;
using testing::sequence;

const std::string kSoftmax =
    R"({"type": "output", "units": 3, "loss": "negative_log_likelihood"})";

NetworkConfig with_activation(const std::string& activation) {
  return sequence("[4]", R"({"type": "dense", "units": 5, "activation": )" +
                             activation + "}, " + kSoftmax);
}

device::ActivationSpec spec_of(const std::string& activation) {
  return with_activation(activation)
      .layers[0]
      .settings.activation("activation");
}

Json resolved(const std::string& activation) {
  return to_json(with_activation(activation))["layers"][0]["activation"];
}

TEST_CASE("activations have the parameters that the document says") {
  CHECK(spec_of(R"("leaky_relu")").alpha == 0.01);
  CHECK(spec_of(R"("elu")").alpha == 1);
  CHECK_FALSE(spec_of(R"("gelu")").approximate);
  CHECK(spec_of(R"({"type": "gelu", "approximate": true})").approximate);
  CHECK(spec_of(R"("swish")").alpha == 1);
  CHECK(spec_of(R"({"type": "swish", "beta": 1.5})").alpha == 1.5);
  CHECK(spec_of(R"("hard_sigmoid")").alpha == 0.2);
  CHECK(spec_of(R"({"type": "hard_sigmoid", "slope": 0.25})").alpha == 0.25);
  CHECK(spec_of(R"("thresholded_relu")").threshold == 1);
  CHECK(spec_of(R"({"type": "thresholded_relu", "theta": 2})").threshold == 2);
  const auto capped = spec_of(
      R"({"type": "capped_relu", "max": 5, "negative_slope": 0.1,
          "threshold": 0.5})");
  CHECK(capped.alpha == 0.1);
  CHECK(capped.threshold == 0.5);
  CHECK(capped.limit == 5);
}

TEST_CASE("resolved activations say what has a default alone") {
  for (const char* name : {"relu", "gelu", "relu6", "log_softmax"})
    CHECK(resolved('"' + std::string(name) + '"') == name);
  CHECK(resolved(R"("swish")") == Json({{"type", "swish"}, {"beta", 1.0}}));
  const Json tanh_form{{"type", "gelu"}, {"approximate", true}};
  CHECK(resolved(tanh_form.dump()) == tanh_form);
}

TEST_CASE("activations that others call otherwise") {
  CHECK_THROWS_WITH(spec_of(R"("SiLU")"),
                    Catch::EndsWith("here it is called 'swish'"));
  CHECK_THROWS_WITH(spec_of(R"("hardsigmoid")"),
                    Catch::EndsWith("here it is called 'hard_sigmoid'"));
  CHECK_THROWS_MATCHES(spec_of(R"("capped_relu")"), Error,
                       Message("'test.json': layers[0].activation.max: "
                               "missing; want number > 0"));
}

constexpr char kSlopes[] = R"({"type": "rrelu", "lower": 0.25, "upper": 0.75},
    {"type": "output", "units": 1, "activation": "identity",
     "loss": "mean_absolute_error", "bias": false})";
constexpr char kOnes[] = R"(, "weight_init": {"type": "constant", "value": 1})";

TEST_CASE("rrelu draws its slopes by mini-batch and place of the example") {
  const NetworkConfig config = sequence("[1000]", kSlopes, kOnes);
  testing::Examples data = testing::random_examples(config, 3);
  for (double& x : data.features.as<double>()) x = -1;
  for (double& y : data.labels.as<double>()) y = 0;
  Network network = compile(config, 3);
  // The loss is the sum of the slopes, the gradient each of them.
  const double sum = network.compute_gradient(data.batch(), {0, 0, 1});
  CHECK(std::abs(sum - 500) < 15);
  CHECK(network.compute_gradient(data.batch(), {9, 3, 1}) == sum);
  CHECK(network.compute_gradient(data.batch(), {0, 0, 2}) != sum);
  Network lanes = compile(config, 3, "reference", 2);
  CHECK(lanes.compute_gradient(data.batch(), {0, 0, 1}) == Approx(sum));
  Network cpu = compile(config, 3, "cpu", 2);
  CHECK(cpu.compute_gradient(data.batch(), {0, 0, 1}) ==
        Approx(sum).epsilon(1e-6));
}

TEST_CASE("rrelu has a slope for each number, and the mean for prediction") {
  const NetworkConfig config = sequence("[1000]", kSlopes, kOnes);
  testing::Examples data = testing::random_examples(config, 1);
  for (double& x : data.features.as<double>()) x = -1;
  data.labels.as<double>()[0] = 0;
  Network network = compile(config, 1);
  network.compute_gradient(data.batch(), {});
  // dL/dw = -(the outputs) = slopes times the sign of the error.
  std::vector<double> slopes = testing::values(network, network.update());
  for (double& slope : slopes) slope = std::abs(slope);
  const auto [least, most] = std::ranges::minmax(slopes);
  CHECK(least >= 0.25);
  CHECK(least < 0.26);
  CHECK(most <= 0.75);
  CHECK(most > 0.74);
  std::ranges::sort(slopes);
  CHECK(std::ranges::adjacent_find(slopes) == slopes.end());
  Network still = compile(config, 1, "reference", 1, false);
  testing::assign(still, still.parameters(), std::vector<double>(1000, 1.0));
  CHECK(testing::predict(still, data.features)[0] == Approx(-500));
}

TEST_CASE("rrelu wants its slopes in order") {
  CHECK_THROWS_MATCHES(
      sequence("[4]", R"({"type": "rrelu", "lower": 0.5}, )" + kSoftmax), Error,
      Message("'test.json': layers[0].lower: is larger than upper"));
}

// Pooling first and then the function must be no other than the function first.
TEST_CASE("max pooling behind a convolution with any activation") {
  for (const std::string_view name : names_of<Activation>()) {
    std::string activation = '"' + std::string(name) + '"';
    if (name == "capped_relu")
      activation = R"({"type": "capped_relu", "max": 1.5,
                       "negative_slope": 0.2, "threshold": 0.1})";
    INFO(activation);
    const std::string conv =
        R"({"type": "conv2d", "filters": 3, "kernel": [2, 2], "activation": )" +
        activation + "}, ";
    const std::string rest =
        R"({"type": "max_pool2d", "name": "pool"}, )" + kSoftmax;
    const NetworkConfig fused = sequence("[5, 5, 2]", conv + rest);
    const NetworkConfig apart =
        sequence("[5, 5, 2]", conv + R"({"type": "activation",
                                         "activation": "identity"}, )" +
                                  rest);
    const testing::Examples data = testing::random_examples(fused, 4);
    Network a = compile(fused, 4), b = compile(apart, 4);
    testing::assign(b, b.parameters(), testing::values(a, a.parameters()));
    CHECK(a.compute_gradient(data.batch(), {}) ==
          Approx(b.compute_gradient(data.batch(), {})));
    CHECK(testing::distance(testing::values(a, a.update()),
                            testing::values(b, b.update())) < 1e-12);
  }
}

}  // namespace
}  // namespace dl::nn::activation_test
