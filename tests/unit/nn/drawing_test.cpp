// Graphs as text, and where their values lie.

#include "libcore/nn/drawing.h"

#include <catch2/catch.hpp>

#include "libcore/nn/layout.h"
#include "libcore/nn/plan/value_memory.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::drawing_test {
namespace {

TEST_CASE("a graph is drawn with a column for each value still to be read") {
  const NetworkConfig config = parse_network(R"({
      "inputs": [{"name": "a", "shape": [4]}, {"name": "b", "shape": [4]}],
      "nodes": [
        {"name": "one", "type": "dense", "units": 4, "from": "a"},
        {"name": "two", "type": "dense", "units": 4},
        {"name": "sum", "type": "add", "from": ["one", "two", "b"]},
        {"name": "end", "type": "output", "units": 2,
         "loss": "mean_squared_error"}],
      "outputs": "end"})",
                                             "'g.json'");
  const std::vector<std::string> want{
      "*  ",   // a
      "|* ",   // b
      "*| ",   // one, in place of a
      "||*",   // two; one is read again
      "*//",   // sum, which is the last to read them all
      "*  "};  // end
  CHECK(draw(config) == want);
}

TEST_CASE("values say whose memory they lie in") {
  const NetworkConfig config = testing::sequence("[6, 6, 2]", R"(
      {"type": "conv2d", "filters": 3, "kernel": [3, 3]},
      {"type": "batch_norm"}, {"type": "activation", "activation": "tanh"},
      {"type": "flatten"},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"})");
  const Layout layout = layout_of(config);
  const ValueMemory training = value_memory(config, layout, 8, true),
                    prediction = value_memory(config, layout, 8, false);
  REQUIRE(training.values.size() == 6);
  CHECK(training.values[0].bytes == 4 * 8 * 6 * 6 * 2);
  CHECK(training.values[0].shares.empty());
  // The activation works in place, and to flatten is to do nothing.
  CHECK(training.values[3].shares == std::vector<Value>{2});
  CHECK(training.values[4].shares == std::vector<Value>{3, 2});
  CHECK(training.bytes < training.apart);
  // The convolution does what is behind it.
  CHECK(prediction.values[1].bytes == 0);
  CHECK(prediction.values[2].bytes == 0);
  CHECK(prediction.bytes < training.bytes);
  CHECK(value_memory(config, layout, 16, true).apart == 2 * training.apart);
}

}  // namespace
}  // namespace dl::nn::drawing_test
