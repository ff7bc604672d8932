// The end of a residual block, relu of batch normalization and what skipped it,
// is computed as one layer.

#include <catch2/catch.hpp>
#include <string>

#include "libcore/nn/plan/plan.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::residual_test {
namespace {

using testing::compile;
using testing::Examples;
using testing::gradient_error;
using testing::kTolerance;
using testing::random_examples;
using testing::stir;

constexpr Position kAt{3, 0, 5};

struct Blocks {
  std::string of_norm = {};  // further keys of all batch normalisations
  std::string relu = R"("relu")";
  bool norm_first = true;  // of the inputs of the first sum
  std::string more = {};   // nodes that read others as well
  std::string ends = R"("end")";
  std::string last = "r2";  // what the output reads
};

// The gradient of the second block's output is another value's as well.
const Blocks kBoth{
    .more = R"({"name": "s3", "from": ["r2", "r1"], "type": "add"}, )",
    .last = "s3"};

// A block that is skipped by a convolution with batch normalization of its own,
// and one that is skipped by nothing else.
NetworkConfig network_of(const Blocks& b) {
  const auto node = [](const char* name, const char* from,
                       const std::string& rest) {
    return R"({"name": ")" + std::string(name) + R"(", "from": )" + from +
           ", " + rest + "},\n";
  };
  const auto conv = [&](const char* name, const char* from) {
    return node(name, from,
                R"("type": "conv2d", "filters": 3, "kernel": [3, 3],
                   "padding": "same", "bias": false)");
  };
  const auto norm = [&](const char* name, const char* from) {
    return node(name, from,
                R"("type": "batch_norm", "epsilon": 0.1)" + b.of_norm);
  };
  const auto relu = [&](const char* name, const char* from) {
    return node(name, from, R"("type": "activation", "activation": )" + b.relu);
  };
  const auto add = [&](const char* name, const char* from) {
    return node(name, from, R"("type": "add")");
  };
  return parse_network(
      R"({"seed": 7, "inputs": [{"name": "image", "shape": [4, 4, 2]}],
          "outputs": [)" +
          b.ends + R"(], "nodes": [)" + conv("c1", R"("image")") +
          norm("n1", R"("c1")") + conv("c2", R"("image")") +
          (b.norm_first ? norm("n2", R"("c2")") : "") +
          add("s1", b.norm_first ? R"(["n1", "n2"])" : R"(["c2", "n1"])") +
          relu("r1", R"("s1")") + conv("c3", R"("r1")") +
          norm("n3", R"("c3")") + add("s2", R"(["n3", "r1"])") +
          relu("r2", R"("s2")") + b.more + R"({"name": "end", "from": ")" +
          b.last +
          R"(", "type": "output", "units": 3,
              "loss": "negative_log_likelihood"}]})",
      "'test.json'");
}

std::size_t steps_of(const Blocks& blocks) {
  const NetworkConfig config = network_of(blocks);
  return plan_of(config, layout_of(config), true).steps.size();
}

// As leaky_relu without a slope, the same blocks are not made one.
Blocks apart(Blocks blocks) {
  blocks.relu = R"({"type": "leaky_relu", "alpha": 0})";
  return blocks;
}

}  // namespace

TEST_CASE("gradients of residual blocks", "[gradient]") {
  const Blocks blocks = GENERATE(Blocks{}, Blocks{.norm_first = false}, kBoth);
  const int lanes = GENERATE(1, 3, 5);
  const NetworkConfig config = network_of(blocks);
  Network network = compile(config, 4, "reference", lanes);
  stir(network);
  const Examples data = random_examples(config, 4);
  const auto loss = [&] { return network.compute_gradient(data.batch(), kAt); };
  CHECK(loss() != 0);
  const auto gradient = testing::values(network, network.update());
  CHECK(gradient_error(network, gradient, 20, loss) <= kTolerance);
}

TEST_CASE("the end of a residual block is one step, and the same numbers") {
  // In all there are two layers less for each block.
  struct Case {
    Blocks blocks;
    std::size_t spared;
  };
  const Case cases[] = {
      {{}, 4},
      {{.norm_first = false}, 4},
      {{.of_norm = R"(, "frozen": true)"}, 4},
      {kBoth, 4},
      // Sums that are read elsewhere stay: the first sum.
      {{.more = R"({"name": "flat", "from": "s1", "type": "flatten"},
          {"name": "too", "from": "flat", "type": "output", "units": 2,
           "loss": "mean_squared_error"}, )",
        .ends = R"("end", "too")"},
       2},
      {{.more = R"({"name": "flat", "from": "n1", "type": "flatten"},
          {"name": "too", "from": "flat", "type": "output", "units": 2,
           "loss": "mean_squared_error"}, )",
        .ends = R"("end", "too")"},
       4}};  // by its other batch normalization
  for (const auto& [blocks, spared] : cases) {
    CAPTURE(blocks.of_norm, blocks.norm_first, blocks.more);
    CHECK(steps_of(apart(blocks)) == steps_of(blocks) + spared);
    if (blocks.ends != kBoth.ends) continue;  // there are two
    const Examples data = random_examples(network_of(blocks), 4);
    for (const char* device : {"reference", "cpu"}) {
      const auto found = [&](const Blocks& b, int lanes) {
        Network network = compile(network_of(b), 4, device, lanes);
        stir(network);
        auto all = std::vector{network.compute_gradient(data.batch(), kAt)};
        for (const double g : testing::values(network, network.update()))
          all.push_back(g);
        return all;
      };
      for (const int lanes : {1, 3})
        CHECK(found(blocks, lanes) == found(apart(blocks), lanes));
    }
  }
}

}  // namespace dl::nn::residual_test
