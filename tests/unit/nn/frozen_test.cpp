// Frozen layers: what they have stays as it is, and gradients go through them.

#include <map>
#include <mutex>

#include "libcore/nn/plan/plan.h"
#include "libcore/nn/update/update_plan.h"
#include "tests/unit/nn/gradient_check.h"
#include "tests/unit/nn/random_graph.h"

namespace dl::nn::frozen_test {
namespace {

using testing::compile;
using testing::RandomGraph;
using testing::sequence;
using testing::values;

constexpr Position kAt{3, 0, 5};

const std::string kEnd =
    R"({"type": "output", "name": "end", "units": 2,
        "loss": "negative_log_likelihood"})";

// The elements of the frozen layers' segments.
std::vector<double> frozen_in(const NetworkConfig& config,
                              const std::vector<Segment>& segments,
                              const std::vector<double>& all) {
  std::vector<double> kept;
  for (const Segment& s : segments)
    if (config.layers[s.layer].training.frozen)
      kept.insert(kept.end(), all.begin() + s.offset,
                  all.begin() + s.offset + s.elements());
  return kept;
}

// Every third layer that has parameters.
NetworkConfig frozen_graph(std::uint64_t seed) {
  NetworkConfig config = RandomGraph(seed).make();
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    LayerConfig& layer = config.layers[i];
    layer.training.frozen =
        layer.shares
            ? config.layers[*layer.shares].training.frozen
            : layer.type->trains != Trains::kNothing && (seed + i) % 3 == 0;
  }
  return config;
}

TEST_CASE("what is frozen in random graphs stays, and the rest learns",
          "[frozen][graph]") {
  int frozen = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const NetworkConfig config = frozen_graph(seed);
    INFO("seed " << seed << ": " << dump_json(to_json(config)));
    const data::DataSet set = testing::random_set(config, 5);
    const auto run = [&](const char* device, int lanes) {
      Network network = compile(config, 5, device, lanes);
      const auto kept = [&] {
        auto all = frozen_in(config, network.parameter_segments(),
                             values(network, network.parameters()));
        if (network.statistics_segments().empty()) return all;
        const auto statistics =
            frozen_in(config, network.statistics_segments(),
                      values(network, network.statistics()));
        all.insert(all.end(), statistics.begin(), statistics.end());
        return all;
      };
      const auto before = kept();
      frozen += before.empty() ? 0 : 1;
      const Batch batch = network.batch_of(set);
      for (int i = 0; i < 2; ++i) testing::train(network, batch, i);
      REQUIRE(kept() == before);
      return values(network, network.parameters());
    };
    const auto want = run("reference", 1);
    REQUIRE(testing::distance(run("cpu", 1), want) < 1e-4);
    REQUIRE(testing::distance(run("cpu", 3), want) < 1e-4);
  }
  CHECK(frozen > 150);
}

TEST_CASE("gradients of 100 random graphs with frozen layers",
          "[frozen][gradient][graph]") {
  int kinks = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const NetworkConfig config = frozen_graph(seed);
    INFO("seed " << seed << ": " << dump_json(to_json(config)));
    Network network =
        compile(config, 3, "reference", 1 + static_cast<int>(seed % 2));
    testing::stir(network);
    const data::DataSet set = testing::random_set(config, 3);
    const Batch batch = network.batch_of(set);
    const auto loss = [&] { return network.compute_gradient(batch, kAt); };
    loss();
    const auto gradient = values(network, network.update());
    for (const double g :
         frozen_in(config, network.parameter_segments(), gradient))
      REQUIRE(g == 0);
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    REQUIRE(testing::gradient_error(network, gradient, 3, loss,
                                    std::max(1e-3 * largest, 1e-6),
                                    &kinks) <= testing::kTolerance);
  }
  CHECK(kinks < 50);
}

TEST_CASE("frozen layers have no updater state and no regularization",
          "[frozen]") {
  const auto network = [](const std::string& frozen) {
    return sequence("[4]",
                    R"({"type": "dense", "name": "base", "units": 3)" + frozen +
                        "}, " + kEnd,
                    R"(, "updater": {"type": "adam"},
                        "regularization": {"l2": 0.5},
                        "constraints": {"max_norm": 0.01})");
  };
  const NetworkConfig config = network(R"(, "frozen": true)");
  const Layout layout = layout_of(config);
  CHECK(layout.parameter_count == 15 + 8);
  CHECK(layout.state_count == 2 * 8);
  Network trained = compile(config, 4, "cpu", 2);
  double squares = 0;
  const auto all = values(trained, trained.parameters());
  for (std::size_t i = 15; i < 21; ++i) squares += all[i] * all[i];
  CHECK(trained.regularization_score() == Approx(0.25 * squares));
  // The key is kept, and only where it is set.
  CHECK(to_json(config)["layers"][0]["frozen"] == true);
  CHECK_FALSE(to_json(config)["layers"][1].contains("frozen"));
  CHECK(to_json(parse_network(dump_json(to_json(config)), "again")) ==
        to_json(config));
}

TEST_CASE("an update shows what is frozen as zeros", "[frozen]") {
  const NetworkConfig config = sequence("[4]",
                                        R"({"type": "dense", "units": 3},
         {"type": "dense", "units": 5, "frozen": true}, )" +
                                            kEnd);
  for (const int lanes : {1, 2, 3}) {
    Network network = compile(config, 6, "cpu", lanes);
    const auto e = testing::random_examples(config, 6);
    network.compute_gradient(e.batch(), kAt);
    std::mutex mutex;
    std::map<std::int64_t, std::int64_t> pieces;
    REQUIRE(network.compute_update(kAt, [&](std::int64_t at, tensor::View v) {
      const std::lock_guard lock(mutex);
      pieces[at] = v.elements();
    }));
    std::int64_t end = 0;
    for (const auto& [at, elements] : pieces) {
      CHECK(at == end);
      end = at + elements;
    }
    CHECK(end == network.parameters().elements());
    const auto update = values(network, network.update());
    CHECK(update[0] != 0);
    CHECK(frozen_in(config, network.parameter_segments(), update) ==
          std::vector<double>(20, 0));
  }
}

TEST_CASE("nothing goes back before the first layer that is trained",
          "[frozen]") {
  const std::string layer = R"({"type": "dense", "units": 64)";
  const auto plan = [&](const std::string& frozen) {
    const NetworkConfig config = sequence(
        "[64]", layer + frozen + "}, " + layer + frozen + "}, " + kEnd);
    return plan_of(config, layout_of(config), true);
  };
  const Plan free = plan(""), still = plan(R"(, "frozen": true)");
  CHECK(free.backward.size() == 3);
  REQUIRE(still.backward.size() == 1);
  CHECK(still.backward[0].dx == std::vector<BufferIndex>{kNoBuffer});
  CHECK(place(still.buffers, 8).elements < place(free.buffers, 8).elements);
}

TEST_CASE("frozen batch normalization takes its running statistics",
          "[frozen]") {
  const NetworkConfig config =
      sequence("[4]", R"({"type": "batch_norm", "frozen": true}, )" + kEnd);
  for (const char* device : {"reference", "cpu"}) {
    Network network = compile(config, 6, device, 2);
    testing::assign(network, network.statistics(),
                    {1, 2, 3, 4, 0.5, 1, 2, 3});  // means, variances
    const auto e = testing::random_examples(config, 6);
    tensor::Tensor before, after;
    network.predict(e.features, before);
    for (int i = 0; i < 3; ++i) network.compute_gradient(e.batch(), {i, 0, 0});
    network.predict(e.features, after);
    CHECK(std::ranges::equal(before.bytes(), after.bytes()));
  }
}

}  // namespace
}  // namespace dl::nn::frozen_test
