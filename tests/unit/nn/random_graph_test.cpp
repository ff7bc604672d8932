// Random graphs: their gradients, and the cpu and several lanes against the
// reference.

#include "tests/unit/nn/random_graph.h"

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::random_graph_test {
namespace {

using testing::compile;
using testing::RandomGraph;

constexpr Position kAt{3, 0, 5};
constexpr std::int64_t kExamples = 3;

TEST_CASE("gradients of 200 random graphs", "[gradient][graph]") {
  int kinks = 0, compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const NetworkConfig config = RandomGraph(seed).make();
    INFO("seed " << seed << ": " << dump_json(config.source));
    Network network =
        compile(config, kExamples, "reference", 1 + static_cast<int>(seed % 2));
    testing::stir(network);
    const data::DataSet set = testing::random_set(config, kExamples);
    const Batch batch = network.batch_of(set);
    const auto loss = [&] { return network.compute_gradient(batch, kAt); };
    loss();
    const auto gradient = testing::values(network, network.update());
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    REQUIRE(largest > 1e-3);
    REQUIRE(testing::gradient_error(network, gradient, 3, loss, 1e-3 * largest,
                                    &kinks) <= testing::kTolerance);
    for (const Segment& s : network.parameter_segments())
      compared += static_cast<int>(std::min<std::int64_t>(s.elements(), 3));
  }
  CHECK(kinks * 100 < compared);
}

TEST_CASE("what is shown of a gradient on the way back stays as it is",
          "[graph]") {
  int shown = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const NetworkConfig config = RandomGraph(seed).make();
    INFO("seed " << seed << ": " << dump_json(config.source));
    const data::DataSet set = testing::random_set(config, 5);
    for (const int lanes : {1, 3}) {
      Network network = compile(config, 5, "cpu", lanes);
      const Batch batch = network.batch_of(set);
      std::vector<double> first;  // as it was shown
      std::int64_t end = network.update().elements();
      double told = 0;
      const double loss = network.compute_gradient(
          batch, kAt, 0, [&](double of, std::int64_t from) {
            REQUIRE(from > 0);
            REQUIRE(from < end);
            const auto all = testing::values(network, network.update());
            first.insert(first.begin(), all.begin() + from, all.begin() + end);
            end = from;
            told = of;
            ++shown;
          });
      const auto all = testing::values(network, network.update());
      REQUIRE(std::equal(first.begin(), first.end(), all.begin() + end));
      if (!first.empty()) REQUIRE(told == loss);
      network.compute_gradient(batch, kAt);
      REQUIRE(testing::values(network, network.update()) == all);
    }
  }
  CHECK(shown > 400);
}

TEST_CASE("random graphs learn on the cpu what they do on the reference",
          "[graph]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const NetworkConfig config = RandomGraph(seed).make();
    INFO("seed " << seed << ": " << dump_json(config.source));
    const data::DataSet set = testing::random_set(config, 5);
    const auto run = [&](const char* device, int lanes) {
      Network network = compile(config, 5, device, lanes);
      const Batch batch = network.batch_of(set);
      for (int i = 0; i < 2; ++i) testing::train(network, batch, i);
      std::vector<Prediction> outputs;
      network.predict(batch.inputs, outputs);
      std::vector<double> all;
      for (const auto& [y, steps, masked] : outputs)
        for (const float value : y.as<float>()) all.push_back(value);
      return all;
    };
    const auto want = run("reference", 1);
    REQUIRE(testing::distance(run("cpu", 1), want) < 1e-4);
    REQUIRE(testing::distance(run("cpu", 3), want) < 1e-4);
  }
}

TEST_CASE("random graphs have every type of layers", "[graph]") {
  std::set<std::string_view> missing;
  for (const LayerType* type : layer_types())
    if (type->output == nullptr) missing.insert(type->name);
  // A new type changes all draws, so as many as it takes.
  for (std::uint64_t seed = 0; seed < 5000 && !missing.empty(); ++seed)
    for (const LayerConfig& layer : RandomGraph(seed).make().layers)
      missing.erase(layer.type->name);
  const std::string first(missing.empty() ? "" : *missing.begin());
  CAPTURE(first);
  CHECK(missing.empty());
}

}  // namespace
}  // namespace dl::nn::random_graph_test
