// Graphs of ONNX along an axis, at edges and by bounds: each by numbers
// that were worked out by hand.

#include <cmath>

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::onnx_along_test {
namespace {

using testing::Graph;
using testing::Ints;
using testing::Reals;

constexpr double kNear = 1e-6;
constexpr std::int64_t kOn = 1;

TEST_CASE("an instance norm of a series is over all its steps") {
  Graph graph({-1, 1, 4});
  graph.reals("w", {1, 1, 1}, {1})
      .reals("one", {1}, {1})
      .reals("zero", {1}, {0})
      .node("Conv", {"x", "w"}, "c")
      .node("InstanceNormalization", {"c", "one", "zero"}, "y")
      .with("epsilon", 1e-9F);
  CHECK(graph.gap({1, 1, 3, 3}, {-1, -1, 1, 1}) <= kNear);
}

TEST_CASE("a constant whose shape follows from an input has its value") {
  Graph graph({-1, 2});
  graph.node("Shape", {"x"}, "s")
      .with("start", kOn)
      .node("ConstantOfShape", {"s"}, "c");
  auto& value = *graph.graph().mutable_node(1)->add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_float_data(5);
  graph.node("Add", {"x", "c"}, "a").end("a", 2);
  CHECK(graph.gap({1, 2}, {6, 7}) <= kNear);
}

TEST_CASE("a pool with pads and ceil_mode has its last window") {
  const auto pooled = [](const char* op, std::int64_t counts) {
    Graph graph({-1, 1, 1, 4});
    graph.node(op, {"x"}, "p")
        .with("kernel_shape", Ints{1, 3})
        .with("strides", Ints{1, 2})
        .with("pads", Ints{0, 1, 0, 1})
        .with("ceil_mode", kOn);
    if (counts != 0) graph.with("count_include_pad", counts);
    return graph.end("p", 3);
  };
  const Reals x = {-1, -2, -3, -4};
  CHECK(pooled("MaxPool", 0).gap(x, {-1, -2, -4}) <= kNear);
  CHECK(pooled("AveragePool", 0).gap(x, {-1.5F, -3, -4}) <= kNear);
  CHECK(pooled("AveragePool", 1).gap(x, {-1, -3, -2}) <= kNear);
  Graph gaps({-1, 1, 1, 4});
  gaps.node("MaxPool", {"x"}, "p")
      .with("kernel_shape", Ints{1, 2})
      .with("dilations", Ints{1, 2})
      .end("p", 2);
  CHECK(gaps.gap({5, 1, 2, 3}, {5, 3}) <= kNear);
}

TEST_CASE("edges reflect, repeat or go round") {
  const auto padded = [](const char* mode) {
    Graph graph({-1, 1, 1, 3});
    return graph.wholes("p", {0, 0, 0, 2, 0, 0, 0, 1})
        .node("Pad", {"x", "p"}, "a")
        .with("mode", std::string(mode))
        .end("a", 6);
  };
  CHECK(padded("reflect").gap({1, 2, 3}, {3, 2, 1, 2, 3, 2}) <= kNear);
  CHECK(padded("edge").gap({1, 2, 3}, {1, 1, 1, 2, 3, 3}) <= kNear);
  CHECK(padded("wrap").gap({1, 2, 3}, {2, 3, 1, 2, 3, 1}) <= kNear);
  CHECK(padded("odd").refusal().starts_with("node 'a' (Pad): its mode is"));
  Graph features({-1, 2, 1});
  features.wholes("p", {0, 0, 1, 0, 0, 0}).node("Pad", {"x", "p"}, "a");
  CHECK(features.end("a", 4).gap({1, 2}, {0, 1, 0, 2}) <= kNear);
}

TEST_CASE("a Slice goes by any step, either way") {
  const auto sliced = [](std::int64_t begin, std::int64_t end,
                         std::int64_t step, std::int64_t count) {
    Graph graph({-1, 6});
    return graph.wholes("b", {begin})
        .wholes("e", {end})
        .wholes("a", {1})
        .wholes("s", {step})
        .node("Slice", {"x", "b", "e", "a", "s"}, "t")
        .end("t", count);
  };
  const Reals x = {1, 2, 3, 4, 5, 6};
  CHECK(sliced(0, 6, 2, 3).gap(x, {1, 3, 5}) <= kNear);
  CHECK(sliced(1, 100, 2, 3).gap(x, {2, 4, 6}) <= kNear);
  CHECK(sliced(0, 5, 4, 2).gap(x, {1, 5}) <= kNear);
  CHECK(sliced(-2, 0, -2, 2).gap(x, {5, 3}) <= kNear);
  CHECK(!sliced(4, 2, 1, 1).refusal().empty());
  CHECK(!sliced(0, 6, 0, 6).refusal().empty());
}

TEST_CASE("indices of a Gather come in any order and shape") {
  Graph graph({-1, 3});
  graph.wholes("i", {2, 0, -2, 1})
      .wholes("two", {2, 2})
      .node("Reshape", {"i", "two"}, "j")
      .node("Gather", {"x", "j"}, "g")
      .with("axis", kOn)
      .end("g", 4);
  CHECK(graph.gap({1, 2, 3}, {3, 1, 2, 2}) <= kNear);
  // More than are layers side by side.
  Ints places;
  Reals x, y;
  for (std::int64_t i = 0; i < 70; ++i) {
    places.push_back(i * 3 % 70);
    x.push_back(static_cast<float>(i));
    y.push_back(static_cast<float>(i * 3 % 70));
  }
  Graph many({-1, 70});
  many.wholes("i", places)
      .node("Gather", {"x", "i"}, "g")
      .with("axis", kOn)
      .end("g", 70);
  CHECK(many.gap(x, y) <= kNear);
}

TEST_CASE("a GatherND takes places of its first axes, and a Where puts some") {
  Graph graph({-1, 2, 2});
  graph.node("Transpose", {"x"}, "t")
      .with("perm", Ints{1, 2, 0})
      .wholes("i", {1, 0, 0, 1})
      .wholes("two", {2, 2})
      .node("Reshape", {"i", "two"}, "j")
      .node("GatherND", {"t", "j"}, "g")
      .node("Transpose", {"g"}, "b")
      .end("b", 2);
  CHECK(graph.gap({1, 2, 3, 4}, {3, 2}) <= kNear);
  Graph put({-1, 3});
  put.wholes("c", {0, 1, 0})
      .reals("v", {}, {7})
      .node("Where", {"c", "v", "x"}, "w")
      .end("w", 3);
  CHECK(put.gap({1, 2, 3}, {1, 7, 3}) <= kNear);
  Graph half({-1, 2});
  half.reals("w", {4, 1}, {1, 10, 100, 1000}).node("Split", {"w"}, "a");
  half.graph().mutable_node(0)->add_output("second");
  half.node("Gemm", {"x", "second"}, "y");
  CHECK(half.gap({1, 2}, {2100}) <= kNear);
}

TEST_CASE("what is repeated stands behind itself") {
  Graph wide({-1, 1, 2});
  wide.wholes("s", {1, 3, 2}).node("Expand", {"x", "s"}, "e").end("e", 6);
  CHECK(wide.gap({1, 2}, {1, 2, 1, 2, 1, 2}) <= kNear);
  Graph tiled({-1, 2});
  tiled.wholes("t", {1, 2}).node("Tile", {"x", "t"}, "e").end("e", 4);
  CHECK(tiled.gap({1, 2}, {1, 2, 1, 2}) <= kNear);
  Graph examples({-1, 2});
  examples.wholes("t", {2, 1}).node("Tile", {"x", "t"}, "e").end("e", 2);
  CHECK(examples.refusal() ==
        "node 'e' (Tile): it repeats the examples of a batch");
}

TEST_CASE("a Resize by any factor is a matrix along each axis") {
  const auto resized = [](std::int64_t from, std::int64_t to, const char* mode,
                          const char* places) {
    Graph graph({-1, 1, 1, from});
    return graph.wholes("s", {1, 1, 1, to})
        .node("Resize", {"x", "", "", "s"}, "r")
        .with("mode", std::string(mode))
        .with("coordinate_transformation_mode", std::string(places))
        .with("nearest_mode", std::string("floor"))
        .end("r", to);
  };
  CHECK(resized(3, 2, "nearest", "asymmetric").gap({1, 2, 3}, {1, 2}) <= kNear);
  CHECK(resized(2, 3, "linear", "align_corners").gap({1, 3}, {1, 2, 3}) <=
        kNear);
  CHECK(resized(4, 2, "linear", "half_pixel").gap({1, 2, 3, 4}, {1.5F, 3.5F}) <=
        kNear);
  // Halfway between the middle two, which weigh 19/32 each, those beside -3/32.
  CHECK(resized(4, 1, "cubic", "half_pixel").gap({32, 0, 0, 0}, {-3}) <= 1e-5);
  CHECK(!resized(3, 2, "linear", "tf_crop_and_resize").refusal().empty());
  // 7 by 2 / 7 is 2, or a little less in single precision.
  const auto rounded = [](std::int64_t from, std::int64_t to) {
    Graph graph({-1, 1, 1, from});
    return graph.wholes("s", {1, 1, 1, to})
        .node("Resize", {"x", "", "", "s"}, "r")
        .with("coordinate_transformation_mode", std::string("asymmetric"))
        .with("nearest_mode", std::string("round_prefer_ceil"))
        .end("r", to);
  };
  CHECK(rounded(7, 2).refusal().find("runtimes differ") != std::string::npos);
  CHECK(rounded(3, 2).gap({1, 2, 3}, {1, 3}) <= kNear);
}

TEST_CASE("bounds, and functions that are sums of rectified lines") {
  Graph clip({-1, 3});
  clip.reals("l", {}, {-2})
      .reals("h", {}, {3})
      .node("Clip", {"x", "l", "h"}, "c")
      .end("c", 3);
  CHECK(clip.gap({-3, 0.5F, 4}, {-2, 0.5F, 3}) <= kNear);
  Graph least({-1, 3});
  least.reals("l", {}, {0.25F}).node("Max", {"l", "x"}, "c").end("c", 3);
  CHECK(least.gap({-3, 0.5F, 4}, {0.25F, 0.5F, 4}) <= kNear);
  // Beside large numbers a bound keeps its bits.
  CHECK(least.gap({-1e9F, -1e30F, 0.3F}, {0.25F, 0.25F, 0.3F}) == 0);
  CHECK(clip.gap({-1e9F, 1e9F, 0.1F}, {-2, 3, 0.1F}) == 0);
  Graph size({-1, 3});
  size.node("Abs", {"x"}, "a").end("a", 3);
  CHECK(size.gap({-3, 0, 4}, {3, 0, 4}) <= kNear);
  const auto shrunk = [](float bias) {
    Graph graph({-1, 3});
    return graph.node("Shrink", {"x"}, "s")
        .with("lambd", 1.0F)
        .with("bias", bias)
        .end("s", 3);
  };
  CHECK(shrunk(0).gap({-3, 0.5F, 4}, {-3, 0, 4}) <= kNear);
  CHECK(shrunk(1).gap({-3, 0.5F, 4}, {-2, 0, 3}) <= kNear);
  CHECK(!shrunk(0.5F).refusal().empty());
  Graph fifth({-1, 2});
  fifth.reals("e", {}, {5}).node("Pow", {"x", "e"}, "p").end("p", 2);
  CHECK(fifth.gap({2, -1}, {32, -1}) <= kNear);
}

TEST_CASE("over one place, or none, a reduction still does what it does") {
  const auto reduced = [](const char* op, int opset, bool none) {
    Graph graph({-1, 2, 1}, opset);
    if (none)
      graph.node(op, {"x"}, "r").with("noop_with_empty_axes", kOn);
    else
      graph.node(op, {"x"}, "r").with("axes", Ints{-1});
    return graph.end("r", 2);
  };
  const Reals x = {-2, 3};
  const std::vector<std::pair<const char*, Reals>> all = {
      {"ReduceL1", {2, 3}},        {"ReduceL2", {2, 3}},
      {"ReduceSumSquare", {4, 9}}, {"ReduceLogSumExp", {-2, 3}},
      {"ReduceMean", {-2, 3}},     {"ReduceMax", {-2, 3}},
      {"ReduceMin", {-2, 3}},      {"ReduceSum", {-2, 3}}};
  for (const auto& [op, y] : all) {
    INFO(op);
    CHECK(reduced(op, 11, false).gap(x, y) <= kNear);
    CHECK(reduced(op, 18, true).gap(x, y) <= kNear);
  }
  Graph sizes({-1, 2});
  sizes.node("ReduceL1", {"x"}, "r").with("axes", Ints{1}).end("r", 1);
  CHECK(sizes.gap({-2, 3}, {5}) <= kNear);
  Graph several({-1, 2, 2});
  several.node("ReduceLogSumExp", {"x"}, "r")
      .with("axes", Ints{1, 2})
      .with("keepdims", std::int64_t{0})
      .node("Neg", {"r"}, "y");
  CHECK(several.gap({0, 0, 0, 0}, {-1.3862944F}) <= kNear);
}

TEST_CASE("blocks become channels, behind their own or before them") {
  const auto deep = [](const char* mode) {
    Graph graph({-1, 2, 2, 2}, 28);
    graph.node("SpaceToDepth", {"x"}, "s")
        .with("blocksize", std::int64_t{2})
        .with("mode", std::string(mode));
    return graph.end("s", 8);
  };
  const Reals x = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(deep("CRD").gap(x, x) <= kNear);
  CHECK(deep("DCR").gap(x, {1, 5, 2, 6, 3, 7, 4, 8}) <= kNear);
  CHECK(!deep("odd").refusal().empty());
}

TEST_CASE("bounds may be one for each number, and lines are cut anywhere") {
  const auto bounded = [](const char* op) {
    Graph graph({-1, 2});
    graph.reals("c", {2}, {1, -1}).node(op, {"x", "c"}, "b");
    return graph.end("b", 2);
  };
  CHECK(bounded("Max").gap({0, 0}, {1, 0}) <= kNear);
  CHECK(bounded("Min").gap({0, 0}, {0, -1}) <= kNear);
  CHECK(bounded("Max").gap({-1e9F, 0.3F}, {1, 0.3F}) == 0);
  CHECK(bounded("Min").gap({0.3F, 1e9F}, {0.3F, -1}) == 0);
  Graph line({-1, 3});
  line.node("HardSigmoid", {"x"}, "h")
      .with("alpha", 0.5F)
      .with("beta", 0.6F)
      .end("h", 3);
  CHECK(line.gap({-2, 0.2F, 2}, {0, 0.7F, 1}) <= kNear);
  Graph bent({-1, 2});
  bent.node("Selu", {"x"}, "s")
      .with("alpha", 2.0F)
      .with("gamma", 3.0F)
      .end("s", 2);
  CHECK(bent.gap({-1, 2}, {-3.7927234F, 6}) <= kNear);
}

TEST_CASE("norms of squares and lengths over any axes but the batch") {
  // [2 steps, 2 channels] and weights along what each is over.
  const Reals x = {1, 2, 3, 4};
  const auto squares = [&](const Ints& axes, const Ints& dims, const Reals& w) {
    Graph graph({-1, 2, 2});
    graph.reals("two", {}, {2})
        .reals("e", {}, {1e-9F})
        .reals("w", dims, w)
        .node("Pow", {"x", "two"}, "q")
        .node("ReduceMean", {"q"}, "m")
        .with("axes", axes);
    graph.node("Add", {"m", "e"}, "u")
        .node("Sqrt", {"u"}, "r")
        .node("Div", {"x", "r"}, "d")
        .node("Mul", {"d", "w"}, "n");
    return graph.end("n", 4);
  };
  const auto all = static_cast<float>(std::sqrt(7.5)),
             odd = static_cast<float>(std::sqrt(5.0)),
             even = static_cast<float>(std::sqrt(10.0));
  const Reals whole = {1 / all, 4 / all, 9 / all, 16 / all};
  CHECK(squares({1, 2}, {2, 2}, x).gap(x, whole) <= kNear);
  CHECK(squares({-1, -2}, {2, 2}, x).gap(x, whole) <= kNear);
  CHECK(squares({-2}, {2, 1}, {1, 10})
            .gap(x, {1 / odd, 2 / even, 30 / odd, 40 / even}) <= 1e-5);
  CHECK(squares({1, 2}, {3, 2, 2}, Reals(12, 1)).refusal() != "");
  Graph behind({-1, 2, 2}, 23);
  behind.reals("w", {2, 2}, x)
      .node("RMSNormalization", {"x", "w"}, "n")
      .with("axis", std::int64_t{1})
      .with("epsilon", 1e-9F)
      .end("n", 4);
  CHECK(behind.gap(x, whole) <= kNear);
  Graph length({-1, 2, 2});
  length.node("ReduceL2", {"x"}, "n")
      .with("axes", Ints{1, 2})
      .node("Div", {"x", "n"}, "d")
      .end("d", 4);
  const auto norm = static_cast<float>(std::sqrt(30.0));
  CHECK(length.gap(x, {1 / norm, 2 / norm, 3 / norm, 4 / norm}) <= kNear);
}

TEST_CASE("norms: of a length of one, of squares, over one axis of several") {
  Graph length({-1, 2});
  length.node("ReduceL2", {"x"}, "n")
      .with("axes", Ints{-1})
      .node("Div", {"x", "n"}, "d")
      .end("d", 2);
  CHECK(length.gap({3, 4}, {0.6F, 0.8F}) <= kNear);
  Graph squares({-1, 2}, 23);
  squares.reals("w", {2}, {1, 2})
      .node("RMSNormalization", {"x", "w"}, "n")
      .with("epsilon", 1e-9F)
      .end("n", 2);
  const auto root = static_cast<float>(std::sqrt(12.5));
  CHECK(squares.gap({3, 4}, {3 / root, 8 / root}) <= kNear);
  // Spelt out, over channels: 1 and 3 become -1 and 1.
  const auto spelt = [](const Ints& of) {
    Graph graph({-1, 2, 1, 2});
    graph.reals("two", {}, {2})
        .reals("e", {}, {1e-9F})
        .reals("w", of, {1, 10})
        .reals("b", of, {0, 0})
        .node("ReduceMean", {"x"}, "m")
        .with("axes", Ints{1});
    graph.node("Sub", {"x", "m"}, "c")
        .node("Pow", {"c", "two"}, "q")
        .node("ReduceMean", {"q"}, "v")
        .with("axes", Ints{1});
    graph.node("Add", {"v", "e"}, "u")
        .node("Sqrt", {"u"}, "r")
        .node("Div", {"c", "r"}, "d")
        .node("Mul", {"d", "w"}, "s");
    return graph.node("Add", {"s", "b"}, "t").end("t", 4);
  };
  CHECK(spelt({2, 1, 1}).gap({1, 2, 3, 4}, {-1, -1, 10, 10}) <= 1e-5);
  CHECK(spelt({2}).refusal().find("differ along other axes") !=
        std::string::npos);
}

TEST_CASE("a norm as TensorFlow spells it out, of axes that it keeps") {
  // x r - mean r + b, r = w / root: 1 and 3 become -1 and 1.
  const auto spelt = [](std::int64_t keeps, const Ints& mean) {
    Graph graph({-1, 2});
    graph.reals("e", {}, {1e-9F}).reals("w", {2}, {1, 10});
    graph.reals("b", {2}, {0.5F, 0}).node("ReduceMean", {"x"}, "m");
    graph.with("axes", Ints{1}).with("keepdims", keeps);
    graph.node("Neg", {"m"}, "n");
    std::string less = "m";
    if (!mean.empty())
      graph.wholes("s", mean).node("Reshape", {"m", less = "s"}, "k");
    graph.node("Sub", {"x", mean.empty() ? "m" : "k"}, "c")
        .node("Mul", {"c", "c"}, "q")
        .node("ReduceMean", {"q"}, "v")
        .with("axes", Ints{1})
        .with("keepdims", keeps);
    graph.node("Add", {"v", "e"}, "u").node("Sqrt", {"u"}, "o");
    graph.node("Reciprocal", {"o"}, "i").node("Mul", {"i", "w"}, "r");
    graph.node("Mul", {"x", "r"}, "f").node("Mul", {"n", "r"}, "g");
    graph.node("Add", {"g", "b"}, "h").node("Add", {"f", "h"}, "y");
    return graph;
  };
  CHECK(spelt(1, {}).gap({1, 3}, {-0.5F, 10}) <= 1e-5);
  CHECK(spelt(1, {-1, 1}).gap({1, 3}, {-0.5F, 10}) <= 1e-5);
  CHECK(spelt(1, {1, -1}).refusal().find("along other axes") !=
        std::string::npos);
  CHECK(!spelt(0, {}).refusal().empty());
}

TEST_CASE("a norm over any axes but the batch, and of groups") {
  // Weights `w` of these extents, behind (x - mean) / root.
  const auto norm = [](const Ints& x, const Ints& axes, const Ints& of,
                       const Reals& w) {
    Graph graph(x);
    graph.reals("e", {}, {1e-12F}).reals("w", of, w);
    graph.node("ReduceMean", {"x"}, "m").with("axes", axes);
    graph.node("Sub", {"x", "m"}, "c").node("Mul", {"c", "c"}, "q");
    graph.node("ReduceMean", {"q"}, "v").with("axes", axes);
    graph.node("Add", {"v", "e"}, "u").node("Sqrt", {"u"}, "r");
    graph.node("Div", {"c", "r"}, "d").node("Mul", {"d", "w"}, "s");
    std::int64_t count = 1;
    for (const std::int64_t one : x) count *= one < 0 ? 1 : one;
    return graph.end("s", count);
  };
  // Two channels that are alternate columns of one row.
  CHECK(norm({-1, 1, 2, 2}, {1, 2}, {1, 1, 2, 1}, {1, 10})
            .gap({1, 5, 3, 9}, {-1, -1, 10, 10}) <= 1e-5);
  const float a = 1.34164079F, b = a / 3;  // of 0, 1, 2, 3
  CHECK(norm({-1, 2, 2, 2}, {1, 3}, {2, 1, 2}, {1, 1, 1, 10})
            .gap({0, 1, 5, 6, 2, 3, 7, 8},
                 {-a, -b, -a, -b, b, 10 * a, b, 10 * a}) <= 1e-5);
  // Groups [n, places, groups, channels of one], with a weight for each
  // channel.
  CHECK(norm({-1, 2, 2, 2}, {1, 3}, {1, 1, 2, 2}, {1, 2, 3, 4})
            .gap({0, 1, 5, 6, 2, 3, 7, 8},
                 {-a, -2 * b, -3 * a, -4 * b, b, 2 * a, 3 * b, 4 * a}) <= 1e-5);
  CHECK(norm({-1, 2, 2}, {2}, {2, 2}, {1, 2, 3, 4})
            .gap({1, 3, 5, 7}, {-1, 2, -3, 4}) <= 1e-5);
  CHECK(norm({-1, 2, 2, 2}, {1, 3}, {2, 2, 1}, {1, 2, 3, 4})
            .gap({0, 1, 5, 6, 2, 3, 7, 8},
                 {-a, -b, -2 * a, -2 * b, 3 * b, 3 * a, 4 * b, 4 * a}) <= 1e-5);
}

TEST_CASE("a p-norm of windows of a volume") {
  Graph graph({-1, 1, 2, 2, 3});
  graph.node("LpPool", {"x"}, "p")
      .with("kernel_shape", Ints{2, 2, 2})
      .with("p", std::int64_t{1})
      .end("p", 2);
  CHECK(graph.gap({1, 0, 2, -1, 0, 3, 10, 1, 20, -10, 1, 30}, {24, 57}) <=
        1e-4);
  Graph padded({-1, 2, 1, 1, 2});
  padded.node("LpPool", {"x"}, "p")
      .with("kernel_shape", Ints{2, 1, 2})
      .with("pads", Ints{1, 0, 0, 0, 0, 0})
      .end("p", 2);
  CHECK(padded.gap({3, 4, 6, 8}, {5, 10}) <= 1e-5);
}

TEST_CASE("groups of a transposed convolution, and many of one by channel") {
  Graph graph({-1, 2, 1, 1});
  graph.reals("w", {2, 1, 1, 2}, {1, 10, 100, 1000})
      .node("ConvTranspose", {"x", "w"}, "c")
      .with("group", std::int64_t{2})
      .end("c", 4);
  CHECK(graph.gap({1, 2}, {1, 10, 200, 2000}) <= kNear);
  constexpr std::int64_t kMany = 1100;
  Graph many({-1, kMany, 1, 1});
  many.reals("w", {kMany, 1, 1, 1}, Reals(kMany, 2))
      .node("Conv", {"x", "w"}, "c")
      .with("group", kMany)
      .node("Flatten", {"c"}, "y");
  CHECK(many.gap(Reals(kMany, 3), Reals(kMany, 6)) <= kNear);
}

TEST_CASE("constants beside values, before them, and for each number") {
  Graph token({-1, 1, 2});
  token.reals("c", {1, 1, 2}, {7, 8})
      .node("Concat", {"c", "x"}, "t")
      .with("axis", kOn)
      .end("t", 4);
  CHECK(token.gap({1, 2}, {7, 8, 1, 2}) <= kNear);
  Graph behind({-1, 2});
  behind.reals("c", {1, 1}, {7})
      .node("Concat", {"x", "c"}, "t")
      .with("axis", kOn)
      .end("t", 3);
  CHECK(behind.gap({1, 2}, {1, 2, 7}) <= kNear);
  Graph first({-1, 2, 1});
  first.reals("a", {2, 2}, {0, 1, 1, 1})
      .node("MatMul", {"a", "x"}, "m")
      .end("m", 2);
  CHECK(first.gap({3, 4}, {4, 7}) <= kNear);
  const auto each = [](const char* op, bool constant_first) {
    Graph graph({-1, 2, 2});
    graph.reals("c", {2, 2}, {1, 2, 4, 8});
    if (constant_first)
      graph.node(op, {"c", "x"}, "m");
    else
      graph.node(op, {"x", "c"}, "m");
    return graph.end("m", 4);
  };
  const Reals x = {1, 1, 2, 4};
  CHECK(each("Mul", false).gap(x, {1, 2, 8, 32}) <= kNear);
  CHECK(each("Div", false).gap(x, {1, 0.5F, 0.5F, 0.5F}) <= kNear);
  CHECK(each("Sub", false).gap(x, {0, -1, -2, -4}) <= kNear);
  CHECK(each("Sub", true).gap(x, {0, 1, 2, 4}) <= kNear);
  CHECK(!each("Div", true).refusal().empty());
}

}  // namespace
}  // namespace dl::convert::onnx_along_test
