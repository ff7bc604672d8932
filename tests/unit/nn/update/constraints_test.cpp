// Constraints of weights, by hand, and on any device and number of lanes.

#include "libcore/nn/update/constraints.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/nn/support.h"

namespace dl::nn::constraints_test {
namespace {

using testing::assign;
using testing::compile;
using testing::random_examples;
using testing::sequence;
using testing::values;

// Flat: dense weight [2, 2], bias [2], output weight [1, 2], bias [1].
NetworkConfig tiny(const std::string& constraints) {
  return sequence("[2]", R"({"type": "dense", "units": 2},
      {"type": "output", "units": 1, "loss": "mean_squared_error"})",
                  R"(, "constraints": )" + constraints);
}

std::vector<double> held(const std::string& constraints,
                         const std::vector<double>& parameters,
                         const char* device = "reference") {
  const NetworkConfig config = tiny(constraints);
  Network network = compile(config, 1, device);
  assign(network, network.parameters(), parameters);
  const Constraints all(config, layout_of(config));
  all.apply(network.device(), network.parameters());
  return values(network, network.parameters());
}

TEST_CASE("constraints put weights back to where they may be") {
  struct Case {
    const char* constraints;
    std::vector<double> want;
  };
  // Rows (3, 4) and (0.3, -0.4), norms 5 and 0.5; (-6, 8), norm 10.
  const std::vector<double> start = {3, 4, 0.3, -0.4, 12, -5, -6, 8, -2};
  const Case c = GENERATE_COPY(
      Case{"{}", start},
      Case{R"({"max_norm": 2.5})", {1.5, 2, 0.3, -0.4, 12, -5, -1.5, 2, -2}},
      Case{R"({"min_norm": 1, "max_norm": 6})",
           {3, 4, 0.6, -0.8, 12, -5, -3.6, 4.8, -2}},
      Case{R"({"min_norm": 1, "max_norm": 1})",
           {0.6, 0.8, 0.6, -0.8, 12, -5, -0.6, 0.8, -2}},
      Case{R"({"max_norm": 2.5, "rate": 0.5})",
           {2.25, 3, 0.3, -0.4, 12, -5, -3.75, 5, -2}},
      Case{R"({"non_negative": true})", {3, 4, 0.3, 0, 12, -5, 0, 8, -2}},
      Case{R"({"non_negative": true, "max_norm": 4})",
           {2.4, 3.2, 0.3, 0, 12, -5, 0, 4, -2}},
      Case{R"({"max_norm": 6.5, "biases": true})",
           {3, 4, 0.3, -0.4, 6, -2.5, -3.9, 5.2, -2}},
      Case{R"({"non_negative": true, "biases": true})",
           {3, 4, 0.3, 0, 12, 0, 0, 8, 0}});
  INFO(c.constraints);
  CHECK(testing::distance(held(c.constraints, start), c.want) < 1e-14);
  CHECK(testing::distance(held(c.constraints, start, "cpu"), c.want) < 1e-6);
}

TEST_CASE("what keeps its constraints stays to the bit, and what is nothing") {
  const std::vector<double> kept = {0.1, 0.7, 1e-9, 0, 5, 5, 0, 0, 5};
  CHECK(held(R"({"min_norm": 0.5, "max_norm": 1})", kept) == kept);
}

TEST_CASE("an update applied is held to the constraints, on any lanes") {
  const NetworkConfig config = sequence(
      "[9, 9, 3]", R"({"type": "conv2d", "filters": 7, "kernel": [3, 3]},
          {"type": "dense", "units": 33, "constraints": {"non_negative": true}},
          {"type": "output", "units": 3, "loss": "mean_squared_error"})",
      R"(, "constraints": {"min_norm": 0.3, "max_norm": 0.4},
          "updater": {"type": "sgd", "learning_rate": 0.5})");
  const testing::Examples data = random_examples(config, 6);
  // Gradients depend on the lanes; what is made of one does not.
  const auto after = [&](const char* device, int lanes) {
    Network network = compile(config, 6, device, lanes);
    const std::vector<double> gradient(values(network, network.update()).size(),
                                       0.01);
    assign(network, network.update(), gradient);
    CHECK(network.apply_update({}));
    return values(network, network.parameters());
  };
  const auto want = after("cpu", 1);
  CHECK(after("cpu", 2) == want);
  CHECK(after("cpu", 5) == want);
  CHECK(testing::distance(after("reference", 1), want) < 1e-6);
  Network network = compile(config, 6, "cpu", 2);
  for (int i = 0; i < 3; ++i) testing::train(network, data.batch(), i);
  const auto parameters = values(network, network.parameters());
  for (int filter = 0; filter < 7; ++filter) {
    double squares = 0;
    for (int k = 0; k < 27; ++k)
      squares +=
          std::pow(parameters[static_cast<std::size_t>(filter * 27 + k)], 2);
    CHECK(std::sqrt(squares) > 0.3 - 1e-6);
    CHECK(std::sqrt(squares) < 0.4 + 1e-6);
  }
  const Segment& dense = network.parameter_segments()[2];
  REQUIRE(dense.name == "dense1/weight");
  bool zero = false;
  for (std::int64_t i = 0; i < dense.elements(); ++i) {
    const double w = parameters[static_cast<std::size_t>(dense.offset + i)];
    CHECK(w >= 0);
    zero = zero || w == 0;
  }
  CHECK(zero);
}

TEST_CASE("an update computed leaves the parameters to who applies it") {
  const NetworkConfig config = tiny(R"({"max_norm": 0.01})");
  Network network = compile(config, 4);
  const auto before = values(network, network.parameters());
  network.compute_gradient(random_examples(config, 4).batch(), {});
  CHECK(network.compute_update({}));
  CHECK(values(network, network.parameters()) == before);
}

TEST_CASE("batch_norm has no constraints") {
  const NetworkConfig config =
      sequence("[2]", R"({"type": "batch_norm"},
          {"type": "output", "units": 1, "loss": "mean_squared_error"})",
               R"(, "constraints": {"max_norm": 1, "biases": true})");
  Network network = compile(config, 1);
  assign(network, network.parameters(), {5, 5, 5, 5, 3, 4, 7});
  Constraints(config, layout_of(config))
      .apply(network.device(), network.parameters());
  CHECK(testing::distance(values(network, network.parameters()),
                          {5, 5, 5, 5, 0.6, 0.8, 1}) < 1e-14);
}

TEST_CASE("constraints that contradict each other are refused") {
  CHECK_THROWS_WITH(tiny(R"({"min_norm": 3, "max_norm": 2})"),
                    "'test.json': layer 'dense1': constraints: min_norm is "
                    "more than max_norm");
}

TEST_CASE("constraints are written as they are read") {
  for (const char* text : {R"({"biases":false,"max_norm":2.0,"min_norm":0.5,)"
                           R"("non_negative":true,"rate":0.25})",
                           R"({"biases":true,"non_negative":true})"}) {
    const Json written = to_json(tiny(text));
    CHECK(dump_json(written["layers"][0]["constraints"]) == text);
    CHECK(to_json(parse_network(dump_json(written), "x")) == written);
  }
  CHECK_FALSE(to_json(tiny("{}"))["layers"][0].contains("constraints"));
}

}  // namespace
}  // namespace dl::nn::constraints_test
