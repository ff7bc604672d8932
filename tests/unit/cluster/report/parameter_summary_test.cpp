// Tests of libcore/cluster/report/parameter_summary.h.

#include "libcore/cluster/report/parameter_summary.h"

#include <catch2/catch.hpp>

#include "libcore/nn/layout.h"

namespace dl::cluster::parameter_summary_test {
namespace {

nn::NetworkConfig network() {
  return nn::parse_network(
      R"({"input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.25},
          "layers": [{"type": "dense", "units": 2, "name": "a"},
                     {"type": "output", "units": 2, "name": "b", "activation": "softmax",
                      "loss": "negative_log_likelihood"}]})",
      "test");
}

RunState state_of(const nn::NetworkConfig& config) {
  RunState state;
  state.parameters.resize(
      static_cast<std::size_t>(nn::layout_of(config).parameter_count), 0);
  return state;
}

TEST_CASE("a spread has the norm, mean and histogram of its numbers") {
  const std::vector<float> values = {-1, 0, 0, 1};
  const Spread spread = Spread::of(values);
  CHECK(spread.norm == Approx(std::sqrt(2.0)));
  CHECK(spread.mean == 0);
  CHECK(spread.low == -1);
  CHECK(spread.high == 1);
  REQUIRE(spread.counts.size() == Spread::kBins);
  CHECK(spread.counts.front() == 1);
  CHECK(spread.counts[10] == 2);
  CHECK(spread.counts.back() == 1);
  const std::vector<float> same = {3, 3};
  CHECK(Spread::of(same).counts.front() == 2);
}

TEST_CASE("a summary has each layer and its change") {
  const nn::NetworkConfig config = network();
  ParameterSummary summary(config, 10, 16, 4);
  RunState state = state_of(config);
  CHECK_FALSE(summary.look(state));  // the first look is where it begins
  state.examples = 3 * 16;
  CHECK_FALSE(summary.look(state));
  state.examples = 4 * 16 + 3;
  state.parameters[0] = 2;  // of layer a
  const auto event = summary.look(state);
  REQUIRE(event);
  CHECK((*event)["batches"] == 5);
  CHECK((*event)["since"] == 0);
  const Json& layers = (*event)["layers"];
  REQUIRE(layers.size() == 2);
  CHECK(layers["a"]["parameters"]["norm"] == 2);
  CHECK(layers["a"]["change"]["norm"] == 2);
  CHECK(layers["b"]["change"]["norm"] == 0);
  CHECK(layers["a"]["learning_rate"] == 0.25);
  CHECK_FALSE(summary.look(state));
}

TEST_CASE("a rollback is no change") {
  const nn::NetworkConfig config = network();
  ParameterSummary summary(config, 10, 16, 1);
  RunState state = state_of(config);
  state.version = 5;
  CHECK_FALSE(summary.look(state));
  state.version = 3;
  state.examples = 3 * 16;
  state.parameters[0] = 2;
  CHECK_FALSE(summary.look(state));
  state.examples = 4 * 16;
  const auto event = summary.look(state);
  REQUIRE(event);
  CHECK((*event)["layers"]["a"]["change"]["norm"] == 0);
}

TEST_CASE("a long run has a bounded number of summaries") {
  const nn::NetworkConfig config = network();
  ParameterSummary summary(config, 1'000'000, 16, 1);
  RunState state = state_of(config);
  int count = 0;
  for (std::int64_t batch = 0; batch < 10'000; ++batch) {
    state.examples = 16 * (batch + 1);
    count += summary.look(state).has_value();
  }
  CHECK(count >= ParameterSummary::kDoubleAfter * 4);
  CHECK(count <= ParameterSummary::kDoubleAfter * 5);
}

}  // namespace
}  // namespace dl::cluster::parameter_summary_test
