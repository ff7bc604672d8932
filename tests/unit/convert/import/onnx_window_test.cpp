// Windows of graphs of ONNX, and what stands around their input: each by
// numbers that were worked out by hand.

#include <limits>

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::onnx_window_test {
namespace {

using testing::Graph;
using testing::Ints;
using testing::Reals;

constexpr double kNear = 1e-6;
constexpr std::int64_t kOn = 1;

// x [1, 1, count] through a pool of two points.
Graph pooled(const char* op, std::int64_t count, std::int64_t gap,
             const Ints& pads, int opset = 19) {
  Graph graph({-1, 1, count}, opset);
  graph.node(op, {"x"}, "p")
      .with("kernel_shape", Ints{2})
      .with("dilations", Ints{gap})
      .with("pads", pads);
  return graph;
}

TEST_CASE("padding beside a window with gaps is never the largest") {
  // At -1 and 1, 0 and 2, 1 and 3.
  CHECK(pooled("MaxPool", 3, 2, {1, 1}).end("p", 3).gap({9, 1, 2}, {1, 9, 1}) <=
        kNear);
  CHECK(pooled("MaxPool", 3, 2, {1, 1})
            .end("p", 3)
            .gap({-9, -1, -2}, {-1, -2, -1}) <= kNear);
  // Zeros are none where all is below 0, in each dimension.
  for (const std::size_t axes : {1U, 2U, 3U}) {
    INFO(axes);
    Ints x{-1, 1}, kernel, pads;
    for (std::size_t k = 0; k < axes; ++k) {
      x.push_back(2);
      kernel.push_back(3);
    }
    Graph graph(x);
    graph.node("MaxPool", {"x"}, "p")
        .with("kernel_shape", kernel)
        .with("pads", Ints(2 * axes, 1));
    const int count = 1 << axes;
    Reals below, most(static_cast<std::size_t>(count), -1);
    for (int i = 0; i < count; ++i) below.push_back(static_cast<float>(-i - 1));
    CHECK(graph.end("p", count).gap(below, most) <= kNear);
  }
  // Behind a ReLU they are, and behind what turns it round they are not again.
  Graph turned({-1, 1, 2});
  turned.node("Relu", {"x"}, "r")
      .node("Neg", {"r"}, "n")
      .node("MaxPool", {"n"}, "p")
      .with("kernel_shape", Ints{2})
      .with("pads", Ints{1, 0});
  CHECK(turned.end("p", 2).gap({1, 2}, {-1, -1}) <= kNear);
}

TEST_CASE("a window in padding alone is refused") {
  const std::string sentence =
      "one of its windows lies in its padding alone; smaller pads would be "
      "needed";
  for (const char* op : {"MaxPool", "AveragePool"}) {
    INFO(op);
    CHECK(pooled(op, 3, 1, {2, 0}).end("p", 4).refusal() ==
          std::string("node 'p' (") + op + "): " + sentence);
    CHECK(pooled(op, 3, 1, {1, 1}).end("p", 4).refusal().empty());
    // At -1 and 2 of an input of two.
    CHECK(pooled(op, 2, 3, {1, 1}).end("p", 1).refusal() ==
          std::string("node 'p' (") + op + "): " + sentence);
  }
}

TEST_CASE("a mean with gaps counts what there is, or its padding as well") {
  CHECK(pooled("AveragePool", 3, 2, {1, 1})
            .end("p", 3)
            .gap({2, 4, 6}, {4, 4, 4}) <= kNear);
  Graph counted = pooled("AveragePool", 3, 2, {1, 1});
  counted.with("count_include_pad", kOn);
  CHECK(counted.end("p", 3).gap({2, 4, 6}, {2, 4, 2}) <= kNear);
  Graph automatic({-1, 1, 3}, 19);
  automatic.node("AveragePool", {"x"}, "p")
      .with("kernel_shape", Ints{2})
      .with("dilations", Ints{2})
      .with("auto_pad", std::string("SAME_UPPER"))
      .end("p", 3);
  CHECK(automatic.refusal().find("runtimes differ") != std::string::npos);
}

TEST_CASE("ceil_mode lets a window hang over an input that is smaller") {
  Graph graph({-1, 1, 2}, 19);
  graph.node("AveragePool", {"x"}, "p")
      .with("kernel_shape", Ints{3})
      .with("strides", Ints{2})
      .with("ceil_mode", kOn)
      .end("p", 1);
  CHECK(graph.gap({2, 4}, {3}) <= kNear);
}

TEST_CASE("a Pad of a large number is exact between its edges") {
  const auto padded = [](float value, const char* next) {
    Graph graph({-1, 1, 2});
    graph.wholes("p", {0, 0, 1, 0, 0, 1})
        .reals("v", {}, {value})
        .node("Pad", {"x", "p", "v"}, "a");
    if (std::string(next) == "MaxPool")
      graph.node(next, {"a"}, "m").with("kernel_shape", Ints{2}).end("m", 3);
    else
      graph.node(next, {"a"}, "m").end("m", 4);
    return graph;
  };
  const Reals x = {-0.125F, 0.25F};
  for (const float low : {-1e9F, std::numeric_limits<float>::lowest(),
                          -std::numeric_limits<float>::infinity()}) {
    INFO(low);
    CHECK(padded(low, "MaxPool").gap(x, {-0.125F, 0.25F, 0.25F}) <= kNear);
  }
  CHECK(padded(-1e9F, "Relu").gap(x, {0, 0, 0.25F, 0}) <= kNear);
  CHECK(padded(-std::numeric_limits<float>::infinity(), "Relu").refusal() ==
        "node 'a' (Pad): its constant is not finite");
}

TEST_CASE("a pool of powers sums up what lies in its windows") {
  const auto graph = [](const Ints& x, const Ints& kernel, const Ints& pads) {
    Graph made(x, 18);
    made.node("LpPool", {"x"}, "p")
        .with("kernel_shape", kernel)
        .with("pads", pads);
    return made;
  };
  CHECK(graph({-1, 1, 1, 2}, {1, 2}, {0, 0, 0, 1})
            .end("p", 2)
            .gap({-3, 4}, {5, 4}) <= kNear);
  CHECK(graph({-1, 1, 3}, {2}, {0, 0}).end("p", 2).gap({3, 4, 0}, {5, 4}) <=
        kNear);
  CHECK(graph({-1, 1, 2, 2, 2}, {2, 2, 2}, Ints(6, 0))
            .end("p", 1)
            .gap({1, -1, 1, 1, 1, 1, -3, 1}, {4}) <= kNear);
  Graph wide({-1, 1, 3});
  wide.node("LpPool", {"x"}, "p")
      .with("kernel_shape", Ints{1})
      .with("strides", Ints{3})
      .with("auto_pad", std::string("SAME_UPPER"))
      .end("p", 1);
  CHECK(wide.refusal().find("runtimes differ") != std::string::npos);
  Graph all({-1, 1, 2});
  all.node("GlobalLpPool", {"x"}, "p").with("p", kOn).end("p", 1);
  CHECK(all.gap({-3, 4}, {7}) <= kNear);
}

// [1, 1, 2] spread by [1, 10] or [1, 10, 100].
Graph spread(std::int64_t points, std::int64_t stride) {
  Graph graph({-1, 1, 2});
  graph
      .reals("w", {1, 1, points},
             points == 2 ? Reals{1, 10} : Reals{1, 10, 100})
      .reals("b", {1}, {0.5F})
      .node("ConvTranspose", {"x", "w", "b"}, "c")
      .with("strides", Ints{stride});
  return graph;
}

TEST_CASE("means of windows that do not reach as far as the input") {
  const auto means = [](const std::string& op, std::int64_t extent) {
    Graph graph({-1, 1, extent});
    graph.node(op, {"x"}, "p")
        .with("kernel_shape", Ints{1})
        .with("strides", Ints{3})
        .with("auto_pad", std::string("SAME_UPPER"));
    return graph.end("p", (extent + 2) / 3);
  };
  CHECK(means("AveragePool", 2).gap({1, 2}, {1}) <= kNear);
  CHECK(means("AveragePool", 4).gap({1, 2, 3, 4}, {1, 4}) <= kNear);
  CHECK(means("MaxPool", 3).gap({1, 2, 3}, {1}) <= kNear);
  CHECK(means("AveragePool", 3).refusal().find("runtimes differ") !=
        std::string::npos);
}

TEST_CASE("a transposed convolution is as large as it says") {
  const Reals x = {1, 2};
  // [1, 10, 102, 20, 200] without a bias.
  CHECK(spread(3, 2).end("c", 5).gap(x, {1.5F, 10.5F, 102.5F, 20.5F, 200.5F}) <=
        kNear);
  Graph upper = spread(3, 2), lower = spread(3, 2), shaped = spread(3, 2);
  upper.with("auto_pad", std::string("SAME_UPPER"));
  CHECK(upper.end("c", 4).gap(x, {1.5F, 10.5F, 102.5F, 20.5F}) <= kNear);
  lower.with("auto_pad", std::string("SAME_LOWER"));
  CHECK(lower.end("c", 4).gap(x, {10.5F, 102.5F, 20.5F, 200.5F}) <= kNear);
  shaped.with("output_shape", Ints{3});
  CHECK(shaped.end("c", 3).gap(x, {10.5F, 102.5F, 20.5F}) <= kNear);
  // Where no window reaches there is the bias.
  Graph more = spread(2, 2), larger = spread(2, 3);
  more.with("output_padding", Ints{1});
  CHECK(more.end("c", 5).gap(x, {1.5F, 10.5F, 2.5F, 20.5F, 0.5F}) <= kNear);
  larger.with("output_shape", Ints{6});
  CHECK(larger.end("c", 6).gap(x, {1.5F, 10.5F, 0.5F, 2.5F, 20.5F, 0.5F}) <=
        kNear);
  Graph gaps = spread(2, 3);
  gaps.with("auto_pad", std::string("SAME_UPPER"));
  CHECK(gaps.end("c", 6).refusal().find("runtimes differ") !=
        std::string::npos);
}

}  // namespace
}  // namespace dl::convert::onnx_window_test
