// A network's updaters without the network: what they make of parameters and
// state is what the network makes of them.

#include "libcore/nn/update/host_updater.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/nn/support.h"

namespace dl::nn::host_updater_test {
namespace {

using Floats = std::vector<float>;

// Over one piece of the update plan, and with all that acts on a step.
NetworkConfig network_with(const std::string& updater) {
  return testing::sequence(
      "[300]", R"({"type": "dense", "units": 70, "activation": "tanh"},
          {"type": "batch_norm"},
          {"type": "dense", "units": 5, "frozen": true},
          {"type": "output", "units": 3, "loss": "mean_squared_error",
           "gradient_normalization": "clip_l2_per_layer",
           "gradient_threshold": 0.01})",
      R"(, "regularization": {"l1": 0.001, "l2": 0.01, "weight_decay": 0.001},
          "constraints": {"max_norm": 0.4}, "updater": )" +
          updater);
}

Floats host(Network& network, tensor::View view) {
  if (view.elements() == 0) return {};
  const auto values = network.device().on_host(view);
  return {values.begin(), values.end()};
}

TEST_CASE("updaters take the network's step to the bit") {
  const std::string updater =
      GENERATE(R"({"type": "sgd", "learning_rate": 0.1})",
               R"({"type": "nesterov", "learning_rate": 0.1, "momentum": 0.9})",
               R"({"type": "adam", "learning_rate": {"schedule": "exponential",
          "initial": 0.1, "decay": 0.9}})",
               R"({"type": "adagrad", "learning_rate": 0.1})");
  const int lanes = GENERATE(1, 3), threads = GENERATE(1, 2);
  INFO(updater << ", " << lanes << " lanes, " << threads << " threads");
  const NetworkConfig config = network_with(updater);
  Network network = testing::compile(config, 6, "cpu", lanes);
  const testing::Examples data = testing::random_examples(config, 6);
  HostUpdater own(config, threads);
  Floats parameters = host(network, network.parameters());
  Floats state = host(network, network.updater_state());
  CHECK(state.size() == own.state_elements());
  for (std::int64_t i = 0; i < 4; ++i) {
    Position at{i, 0, 7};
    at.factor = i < 2 ? 1 : 0.5;
    network.compute_gradient(data.batch(), at);
    Floats gradient = host(network, network.update());
    REQUIRE(network.apply_update(at));
    const Floats before = parameters;
    REQUIRE(own.step(at, gradient, parameters, state));
    CHECK(parameters != before);
    CHECK(parameters == host(network, network.parameters()));
    CHECK(state == host(network, network.updater_state()));
  }
}

TEST_CASE("a gradient that is not finite moves nothing") {
  const NetworkConfig config =
      network_with(R"({"type": "adam", "learning_rate": 0.1})");
  Network network = testing::compile(config, 6, "cpu");
  HostUpdater own(config);
  Floats parameters = host(network, network.parameters());
  Floats state = host(network, network.updater_state());
  const Floats before = parameters, state_before = state;
  Floats gradient(parameters.size(), 0.5F);
  gradient[11] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(own.step({}, gradient, parameters, state));
  CHECK(parameters == before);
  CHECK(state == state_before);
}

}  // namespace
}  // namespace dl::nn::host_updater_test
