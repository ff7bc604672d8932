// Where graphs of ONNX mean another thing than they seem to: each by numbers
// that were worked out by hand.  Models of PyTorch and others are for
// tests/peers/onnx_import.py, which has a runtime.

#include <limits>

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::onnx_import_test {
namespace {

using testing::Graph;
using testing::Ints;
using testing::Reals;

constexpr double kNear = 1e-6;

Reals numbers(int count, float first = 1) {
  Reals all;
  for (int i = 0; i < count; ++i) all.push_back(first + static_cast<float>(i));
  return all;
}

// [filters, channels, height, width] of ones.
Graph& ones(Graph& graph, const Ints& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return graph.reals("w", dims, Reals(static_cast<std::size_t>(count), 1));
}

TEST_CASE("a flatten of an image has the columns of channels first") {
  Graph graph({-1, 2, 2, 2});
  graph.reals("w", {2, 2, 1, 1}, {1, 0, 0, 1})
      .node("Conv", {"x", "w"}, "c")
      .node("Flatten", {"c"}, "f")
      .reals("v", {8, 1}, {1, 10, 100, 1000, 0, 0, 0, 0.5F})
      .node("Gemm", {"f", "v"}, "y");
  CHECK(graph.gap(numbers(8), {4325}) <= kNear);
}

TEST_CASE("a Gemm has its matrix either way round, and a bias of one number") {
  const Reals x = {1, 2, 3};
  Graph columns({-1, 3});
  columns.reals("w", {3, 2}, {1, 2, 3, 4, 5, 6})
      .reals("b", {1}, {0.5F})
      .node("Gemm", {"x", "w", "b"}, "y");
  CHECK(columns.gap(x, {22.5F, 28.5F}) <= kNear);
  Graph rows({-1, 3});
  rows.reals("w", {2, 3}, {1, 2, 3, 4, 5, 6})
      .node("Gemm", {"x", "w"}, "y")
      .with("transB", std::int64_t{1});
  CHECK(rows.gap(x, {14, 32}) <= kNear);
  Graph scaled({-1, 3});
  scaled.reals("w", {3, 1}, {1, 1, 1})
      .reals("b", {1}, {1})
      .node("Gemm", {"x", "w", "b"}, "y")
      .with("alpha", 2.0F)
      .with("beta", 0.5F);
  CHECK(scaled.gap(x, {12.5F}) <= kNear);
  Graph turned({-1, 3});
  turned.reals("w", {3, 1}, {1, 1, 1})
      .node("Gemm", {"x", "w"}, "y")
      .with("transA", std::int64_t{1});
  CHECK(turned.refusal().starts_with("node 'y' (Gemm): it transposes"));
}

TEST_CASE("padding that differs from side to side stays where it is") {
  Graph graph({-1, 1, 2, 2});
  ones(graph, {1, 1, 2, 2})
      .node("Conv", {"x", "w"}, "c")
      .with("pads", Ints{1, 0, 0, 1})
      .node("Flatten", {"c"}, "y");
  CHECK(graph.gap({1, 2, 4, 8}, {3, 2, 15, 10}) <= kNear);
}

TEST_CASE("automatic padding has its odd pixel above or below") {
  const auto gap = [](const char* kind, const Reals& y) {
    Graph graph({-1, 1, 2, 2});
    ones(graph, {1, 1, 2, 2})
        .node("Conv", {"x", "w"}, "c")
        .with("auto_pad", std::string(kind))
        .node("Flatten", {"c"}, "y");
    return graph.gap({1, 2, 4, 8}, y);
  };
  CHECK(gap("SAME_UPPER", {15, 10, 12, 8}) <= kNear);
  CHECK(gap("SAME_LOWER", {1, 3, 5, 15}) <= kNear);
  CHECK(gap("VALID", {15}) <= kNear);
}

TEST_CASE("a Pad adds zeros on each side, or takes away") {
  const auto padded = [](const Ints& pads, std::int64_t count = 1) {
    Graph graph({-1, 1, 2, 2});
    return graph.wholes("p", pads).node("Pad", {"x", "p"}, "a").end("a", count);
  };
  CHECK(padded({0, 0, 1, 0, 0, 0, 0, 1}, 9)
            .gap({1, 2, 4, 8}, {0, 0, 0, 1, 2, 0, 4, 8, 0}) <= kNear);
  CHECK(padded({0, 0, -1, 0, 0, 0, 0, 0}, 2).gap({1, 2, 4, 8}, {4, 8}) <=
        kNear);
  CHECK(!padded({0, 1, 0, 0, 0, 0, 0, 0}).refusal().empty());
  CHECK(!padded({1, 0, 0, 0, 0, 0, 0, 0}).refusal().empty());
  Graph other({-1, 1, 2, 2});
  other.wholes("p", {0, 0, 1, 1, 0, 0, 0, 0})
      .reals("v", {}, {3})
      .node("Pad", {"x", "p", "v"}, "a")
      .end("a", 9);
  CHECK(other.gap({1, 2, 4, 8}, {3, 3, 3, 3, 1, 2, 3, 4, 8}) <= kNear);
}

TEST_CASE("a Pad before channels come first leaves them where they are") {
  const auto padded = [](const Ints& pads, const Ints& x) {
    Graph graph(x);
    graph.wholes("p", pads).node("Pad", {"x", "p"}, "a");
    return graph;
  };
  const auto shape = [](const Graph& graph) {
    return graph.imported().network["input"]["shape"].get<Ints>();
  };
  // [n, h, w, c]: as TensorFlow and dl-export write it.
  Graph image = padded({0, 1, 0, 0, 0, 0, 1, 0}, {-1, 1, 1, 2});
  image.node("Transpose", {"a"}, "t")
      .with("perm", Ints{0, 3, 1, 2})
      .end("t", 8);
  CHECK(image.gap({1, 2}, {0, 0, 1, 0, 0, 0, 2, 0}) <= kNear);
  CHECK(shape(image) == Ints{1, 1, 2});
  // Rows alone, which could be columns of channels first.
  Graph rows = padded({0, 0, 1, 0, 0, 0, 0, 0}, {-1, 1, 1, 2});
  rows.node("Transpose", {"a"}, "t").with("perm", Ints{0, 3, 1, 2}).end("t", 4);
  CHECK(rows.gap({1, 2}, {0, 1, 0, 2}) <= kNear);
  CHECK(shape(rows) == Ints{1, 1, 2});
  Graph series = padded({0, 1, 0, 0, 1, 0}, {-1, 1, 2});
  series.end("a", 6);
  CHECK(series.gap({1, 2}, {0, 0, 1, 2, 0, 0}) <= kNear);
}

TEST_CASE("what is reduced over a single place is that place") {
  for (const char* op : {"ReduceMean", "ReduceMax"})
    for (const std::int64_t keep : {0, 1}) {
      INFO(op << keep);
      Graph image({-1, 2, 2, 2});
      ones(image, {2, 2, 2, 2})
          .node("Conv", {"x", "w"}, "c")
          .node(op, {"c"}, "m")
          .with("axes", Ints{2, 3})
          .with("keepdims", keep)
          .reals("v", {1, 2}, {1, 3});
      if (keep == 0)
        image.node("Gemm", {"m", "v"}, "y").with("transB", std::int64_t{1});
      else
        image.end("m", 2);
      CHECK(image.gap(numbers(8), keep == 0 ? Reals{144} : Reals{36, 36}) <=
            kNear);
    }
  Graph last({-1, 2, 1});
  last.node("ReduceMean", {"x"}, "m")
      .with("axes", Ints{-1})
      .with("keepdims", std::int64_t{0})
      .reals("v", {2, 1}, {1, 10})
      .node("MatMul", {"m", "v"}, "y");
  CHECK(last.gap({1, 2}, {21}) <= kNear);
}

TEST_CASE("any axis but the batch is turned round") {
  const auto turned = [](const Ints& x, std::int64_t axis) {
    Graph graph(x);
    graph.wholes("b", {-1})
        .wholes("e", {std::numeric_limits<std::int64_t>::min()})
        .wholes("a", {axis})
        .node("Slice", {"x", "b", "e", "a", "b"}, "s");
    return graph;
  };
  CHECK(turned({-1, 2, 2}, 1).end("s", 4).gap({1, 2, 3, 4}, {3, 4, 1, 2}) <=
        kNear);
  CHECK(turned({-1, 2, 2}, 2).end("s", 4).gap({1, 2, 3, 4}, {2, 1, 4, 3}) <=
        kNear);
  CHECK(turned({-1, 3}, 1).end("s", 3).gap({1, 2, 3}, {3, 2, 1}) <= kNear);
  CHECK(turned({-1, 2, 1, 2}, 1).end("s", 4).gap({1, 2, 3, 4}, {3, 4, 1, 2}) <=
        kNear);
  CHECK(turned({-1, 2, 2, 2}, 2)
            .end("s", 8)
            .gap(numbers(8), {3, 4, 1, 2, 7, 8, 5, 6}) <= kNear);
  CHECK(turned({-1, 2, 2}, 0).end("s", 4).refusal() ==
        "node 's' (Slice): it reverses the examples of a batch");
}

TEST_CASE("with ceil_mode a last window hangs over, unless all of it would") {
  const auto pooled = [](const char* op, const Ints& pads) {
    Graph graph({-1, 1, 1, 5});
    graph.node(op, {"x"}, "p")
        .with("kernel_shape", Ints{1, 2})
        .with("strides", Ints{1, 2})
        .with("pads", pads)
        .with("ceil_mode", std::int64_t{1})
        .end("p", 3);
    return graph;
  };
  CHECK(pooled("MaxPool", {0, 0, 0, 0}).gap({1, 5, 2, 3, 4}, {5, 3, 4}) <=
        kNear);
  CHECK(
      pooled("AveragePool", {0, 0, 0, 0}).gap({1, 5, 2, 3, 4}, {3, 2.5F, 4}) <=
      kNear);
  Graph counted({-1, 1, 1, 4});
  counted.node("AveragePool", {"x"}, "p")
      .with("kernel_shape", Ints{1, 2})
      .with("strides", Ints{1, 2})
      .with("pads", Ints{0, 1, 0, 1})
      .with("count_include_pad", std::int64_t{1})
      .end("p", 3);
  CHECK(counted.gap({2, 4, 6, 8}, {1, 5, 4}) <= kNear);
}

TEST_CASE("axes are an attribute of older opsets and an input of newer") {
  Graph old({-1, 3, 1}, 11);
  old.node("Squeeze", {"x"}, "s").with("axes", Ints{2}).end("s", 3);
  CHECK(old.gap({1, 2, 3}, {1, 2, 3}) <= kNear);
  Graph fresh({-1, 3, 1}, 13);
  fresh.wholes("a", {-1}).node("Squeeze", {"x", "a"}, "s").end("s", 3);
  CHECK(fresh.gap({1, 2, 3}, {1, 2, 3}) <= kNear);
  Graph mean({-1, 2, 3}, 18);
  mean.wholes("a", {2})
      .node("ReduceMean", {"x", "a"}, "m")
      .with("keepdims", std::int64_t{0});
  mean.end("m", 2);
  CHECK(mean.gap(numbers(6), {2, 5}) <= kNear);
}

// Up to opset 12 the axis begins a row of all that follow.
TEST_CASE("a Softmax of an older opset is over all that follows its axis") {
  const auto said = [](int opset) {
    Graph graph({-1, 2, 2}, opset);
    graph.node("Softmax", {"x"}, "s").end("s", 4);
    return graph;
  };
  CHECK(said(13).gap({0, 0, 0, 0}, {0.5F, 0.5F, 0.5F, 0.5F}) <= kNear);
  CHECK(said(11).gap({0, 0, 0, 0}, {0.25F, 0.25F, 0.25F, 0.25F}) <= kNear);
}

// As PyTorch spells it out: x / (1 + 0.5 mean)^2 of 3 channels.
TEST_CASE("a mean over channels that is spelt out is a local response") {
  const auto graph = [](std::int64_t before, std::int64_t behind) {
    Graph made({-1, 3, 1, 1});
    made.wholes("s", {-1, 1, 3, 1, 1})
        .wholes("p", {0, 0, before, 0, 0, 0, 0, behind, 0, 0})
        .wholes("a", {1})
        .reals("alpha", {}, {1.5F})
        .reals("k", {}, {1})
        .reals("beta", {}, {2});
    made.node("Mul", {"x", "x"}, "m")
        .node("Reshape", {"m", "s"}, "r")
        .node("Pad", {"r", "p"}, "q")
        .node("AveragePool", {"q"}, "w")
        .with("kernel_shape", Ints{before + behind + 1, 1, 1})
        .node("Squeeze", {"w", "a"}, "v");
    made.node("Mul", {"v", "alpha"}, "t")
        .node("Add", {"t", "k"}, "u")
        .node("Pow", {"u", "beta"}, "z")
        .node("Div", {"x", "z"}, "d")
        .end("d", 3);
    return made;
  };
  // Squares 4, 1, 0: means of 5 / 3, 5 / 3 and 1 / 3, times 1.5.
  CHECK(graph(1, 1).gap({2, 1, 0}, {2 / 12.25F, 1 / 12.25F, 0}) <= kNear);
  CHECK(graph(1, 0).refusal().find("its window is even") != std::string::npos);
}

TEST_CASE("an output that says which class is left out beside the others") {
  Graph graph({-1, 2});
  graph.reals("w", {2, 2}, {0, 1, 2, 0})
      .node("Gemm", {"x", "w"}, "s")
      .node("Softmax", {"s"}, "y")
      .node("ArgMax", {"y"}, "label");
  graph.graph().add_output()->set_name("label");
  const Imported made = graph.imported();
  CHECK(made.outputs.size() == 1);
  CHECK(std::ranges::count(made.notes,
                           "its output 'label', the class, is left out: "
                           "dl-infer(1) says it") == 1);
  Graph alone({-1, 2});
  alone.node("ArgMax", {"x"}, "y");
  CHECK(alone.refusal().starts_with("node 'y' (ArgMax): "));
}

TEST_CASE("a linear classifier is a layer, and its division by 1 is none") {
  Graph graph({-1, 2});
  graph.node("LinearClassifier", {"x"}, "label")
      .with("post_transform", std::string("LOGISTIC"))
      .with("classlabels_ints", Ints{0, 1})
      .with("coefficients", Reals{-1, -2, 1, 2})
      .with("intercepts", Reals{-0.5F, 0.5F});
  graph.graph().mutable_node(0)->set_domain("ai.onnx.ml");
  graph.graph().mutable_node(0)->add_output("scores");
  graph.node("Normalizer", {"scores"}, "y").with("norm", std::string("L1"));
  graph.graph().mutable_node(1)->set_domain("ai.onnx.ml");
  CHECK(graph.gap({-0.5F, 0}, {0.5F, 0.5F}) <= kNear);
  CHECK(graph.imported().model->config.layers.size() == 1);
  CHECK(graph.imported().model->data.classes.empty());  // their numbers
}

TEST_CASE("what a list of probabilities calls the classes is kept") {
  const auto classes = [](const char* key, const auto& labels) {
    Graph graph({-1, 2});
    graph.reals("w", {2, 2}, {0, 1, 2, 0})
        .node("Gemm", {"x", "w"}, "s")
        .node("Softmax", {"s"}, "p")
        .node("ZipMap", {"p"}, "y")
        .with(key, labels);
    graph.graph().mutable_node(2)->set_domain("ai.onnx.ml");
    return graph.imported().model->data.classes;
  };
  using Names = std::vector<std::string>;
  CHECK(classes("classlabels_strings", Names{"low", "high"}) ==
        Names{"low", "high"});
  CHECK(classes("classlabels_int64s", Ints{3, 7}) == Names{"3", "7"});
  CHECK(classes("classlabels_int64s", Ints{0, 1}).empty());
  CHECK(classes("classlabels_strings", Names{"a", "b", "c"}).empty());
}

TEST_CASE("one number that tells two classes apart names them") {
  // As converters write a perceptron for two classes: 1 - p and p.
  Graph graph({-1, 1});
  graph.reals("w", {1, 1}, {2})
      .reals("one", {}, {1})
      .node("MatMul", {"x", "w"}, "s")
      .node("Sigmoid", {"s"}, "p")
      .node("Sub", {"one", "p"}, "q")
      .node("Concat", {"q", "p"}, "y")
      .with("axis", std::int64_t{1})
      .node("ArgMax", {"y"}, "a")
      .with("axis", std::int64_t{1})
      .node("ArrayFeatureExtractor", {"classes", "a"}, "label");
  auto& names = *graph.graph().add_initializer();
  names.set_name("classes");
  names.set_data_type(::onnx::TensorProto::STRING);
  names.add_dims(2);
  names.add_string_data("no");
  names.add_string_data("yes");
  graph.graph().mutable_node(5)->set_domain("ai.onnx.ml");
  graph.graph().add_output()->set_name("label");
  const Imported made = graph.imported();
  CHECK(made.outputs.size() == 1);
  CHECK(made.model->data.classes == std::vector<std::string>{"no", "yes"});
  CHECK(nn::output_of(made.model->config).activation.kind ==
        device::Activation::kSoftmax);
  // 1 / (1 + e^-2)
  CHECK(graph.gap({1}, {0.1192029F, 0.8807971F}) <= kNear);
}

TEST_CASE("labels of each output and lists of outputs are left out and taken") {
  Graph graph({-1, 2});
  graph.reals("w", {2, 2}, {0, 1, 2, 0}).reals("half", {}, {0.5F});
  graph.node("Gemm", {"x", "w"}, "s").node("Sigmoid", {"s"}, "p");
  graph.node("Sub", {"p", "half"}, "d").node("Sign", {"d"}, "c");
  graph.node("Cast", {"c"}, "label").with("to", std::int64_t{7});
  graph.node("SequenceConstruct", {"p", "s"}, "y");
  graph.graph().add_output()->set_name("label");
  const Imported made = graph.imported();
  REQUIRE(made.outputs.size() == 2);
  CHECK(made.outputs[0].name == "p");
  CHECK(made.outputs[1].name == "s");
}

TEST_CASE("a model in which nothing is learnt gets a factor and an offset") {
  Graph graph({-1, 2});
  graph.node("Relu", {"x"}, "y");
  CHECK(graph.gap({1, -2}, {1, 0}) <= kNear);
  REQUIRE(graph.imported().notes.size() == 1);
  CHECK(graph.imported().notes[0].starts_with("nothing of it is trained"));
}

TEST_CASE("a batch of one is no axis of what is one with others") {
  Graph row({1, 2, 2});
  row.node("Flatten", {"x"}, "f")
      .with("axis", std::int64_t{0})
      .reals("w", {4, 1}, {1, 10, 100, 1000})
      .node("Gemm", {"f", "w"}, "y");
  CHECK(row.gap({1, 2, 3, 4}, {4321}) <= kNear);
  Graph all({1, 2, 2});
  all.wholes("s", {-1}).node("Reshape", {"x", "s"}, "y");
  CHECK(all.gap({1, 2, 3, 4}, {1, 2, 3, 4}) <= kNear);
  Graph sum({1, 2, 2});
  sum.node("ReduceMax", {"x"}, "y");
  CHECK(sum.gap({1, 2, 3, 4}, {4}) <= kNear);
  Graph open({-1, 2, 2});
  open.node("ReduceMax", {"x"}, "y");
  CHECK(open.refusal() == "node 'y' (ReduceMax): it reduces the batch");
}

TEST_CASE("an axis from the end is ONNX's, whatever is last here") {
  // Channels 1 and 2 at two places; a Softmax makes of equal numbers halves.
  const auto said = [](const char* op, std::int64_t axis, int opset) {
    Graph graph({-1, 1, 2}, opset);
    graph.reals("w", {2, 1, 1}, {1, 1})
        .node("Conv", {"x", "w"}, "c")
        .node(op, {"c"}, "s")
        .with("axis", axis);
    return graph.end("s", 4);
  };
  const float p = 0.8807971F, log_p = -0.126928F;
  const Reals x = {0, 2}, places = {1 - p, p, 1 - p, p},
              channels = {0.5F, 0.5F, 0.5F, 0.5F};
  for (const std::int64_t axis : {-1, 2}) {
    CHECK(said("Softmax", axis, 17).gap(x, places) <= kNear);
    CHECK(said("LogSoftmax", axis, 17)
              .gap(x, {log_p - 2, log_p, log_p - 2, log_p}) <= kNear);
    CHECK(said("Softmax", axis, 11).gap(x, places) <= kNear);
  }
  for (const std::int64_t axis : {-2, 1}) {
    CHECK(said("Softmax", axis, 17).gap(x, channels) <= kNear);
    // Up to opset 12 all that follows the axis is one.
    CHECK(said("Softmax", axis, 11)
              .gap(x, {(1 - p) / 2, p / 2, (1 - p) / 2, p / 2}) <= kNear);
  }
  // As one layer where it is that of the channels.
  CHECK(said("Softmax", 1, 17)
            .imported()
            .model->config.layers.at(0)
            .settings.activation("activation")
            .kind == device::Activation::kSoftmax);
}

TEST_CASE("a log of a softmax is along its axis, by default of its opset") {
  const auto graph = [](int opset) {
    Graph made({-1, 2, 2}, opset);
    made.node("Softmax", {"x"}, "s").node("Log", {"s"}, "l");
    return made.end("l", 4);
  };
  const float quarter = -1.3862944F, half = -0.6931472F;
  CHECK(graph(11).gap({0, 0, 0, 0}, Reals(4, quarter)) <= kNear);
  CHECK(graph(13).gap({0, 0, 0, 0}, Reals(4, half)) <= kNear);
}

TEST_CASE("layers that share a tensor have the same numbers each") {
  Graph graph({-1, 2});
  graph.reals("w", {2, 2}, {0, 1, 2, 0})
      .node("Gemm", {"x", "w"}, "h")
      .node("Gemm", {"h", "w"}, "y");
  CHECK(graph.gap({1, 10}, {2, 20}) <= kNear);
}

TEST_CASE("a graph that makes no sense is refused in a sentence") {
  Graph cycle({-1, 2});
  cycle.node("Add", {"x", "b"}, "a").node("Relu", {"a"}, "b");
  cycle.node("Relu", {"b"}, "y");
  CHECK(cycle.refusal() ==
        "node 'a' (Add): it reads 'b', which no node before it gives");
  Graph missing({-1, 2});
  missing.node("Gemm", {"x", "w"}, "y");
  CHECK(missing.refusal() ==
        "node 'y' (Gemm): its weight is computed; a constant would be needed");
  Graph nothing({-1, 2});
  nothing.node("Relu", {"x"}, "z");
  CHECK(nothing.refusal() == "its output 'y' follows from no input");
  Graph twice({-1, 2});
  twice.reals("w", {2, 1}, {1, 1}).reals("w", {2, 1}, {2, 2});
  twice.node("Gemm", {"x", "w"}, "y");
  CHECK(twice.refusal() == "its tensor 'w' is there twice");
  Graph small({-1, 2});
  small.reals("w", {3, 1}, {1, 1, 1}).node("Gemm", {"x", "w"}, "y");
  CHECK(small.refusal() ==
        "node 'y' (Gemm): its weight is for 3 numbers, its input has 2");
}

TEST_CASE("what comes before a convolution leaves its image's channels last") {
  // Each channel less its mean, BGR as RGB, and their weighted sum.
  const auto made = [](bool convolved) {
    Graph graph({-1, 3, 1, 2});
    graph.reals("half", {}, {2})
        .reals("mean", {1, 3, 1, 1}, {1, 2, 3})
        .wholes("bgr", {2, 1, 0})
        .node("Div", {"x", "half"}, "d")
        .node("Sub", {"d", "mean"}, "s")
        .node("Gather", {"s", "bgr"}, "g")
        .with("axis", std::int64_t{1});
    if (!convolved) return graph.end("g", 6);
    graph.reals("w", {1, 3, 1, 1}, {1, 10, 100}).node("Conv", {"g", "w"}, "c");
    return graph.end("c", 2);
  };
  const Reals x = {2, 4, 6, 8, 10, 12};
  CHECK(made(true).gap(x, {12, 123}) <= kNear);
  const Imported image = made(true).imported();
  CHECK(image.model->config.inputs.at(0).shape == tensor::Shape{1, 2, 3});
  for (const nn::LayerConfig& layer : image.model->config.layers)
    CHECK(layer.type->name != "permute");
  const Graph alone = made(false);
  CHECK(alone.gap(x, {2, 3, 1, 2, 0, 1}) <= kNear);
  CHECK(alone.imported().model->config.inputs.at(0).shape ==
        tensor::Shape{3, 1, 2});
}

TEST_CASE("a log_softmax at the end says what it would be trained with") {
  Graph graph({-1, 2});
  graph.reals("w", {2, 2}, {1, 0, 0, 1})
      .node("Gemm", {"x", "w"}, "h")
      .node("LogSoftmax", {"h"}, "y");
  const Imported made = graph.imported();
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0].find("log_softmax, and would be trained with "
                           "mean_squared_error") != std::string::npos);
}

void say(Graph& graph, const std::string& key, const std::string& value) {
  auto& entry = *graph.model().add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

TEST_CASE("normalizers are those whose nodes are there, by name and form") {
  const auto made = [](const char* kind, const char* name) {
    Graph graph({-1, 2});
    graph.reals("m", {2}, {1, 2}).reals("w", {2, 1}, {1, 10});
    graph.node("Sub", {"x", "m"}, "s");
    graph.graph().mutable_node(0)->set_name(name);
    graph.node("Gemm", {"s", "w"}, "y");
    say(graph, "normalizer", kind);
    return graph;
  };
  const Imported taken = made("standardize", "x/Sub").imported();
  CHECK(taken.model->normalizers.input(0) ==
        data::Normalizer{"standardize", {1, 2}, {1, 1}});
  CHECK(taken.model->config.layers.size() == 1);
  for (const auto& [kind, name] :
       {std::pair("standardize", "other"), std::pair("odd", "x/Sub"),
        std::pair("pca", "x/Sub")}) {
    const Graph graph = made(kind, name);
    INFO(kind << " " << name);
    CHECK(graph.imported().model->normalizers.input(0).changes_nothing());
    CHECK(graph.gap({2, 4}, {21}) <= kNear);
  }
  CHECK(made("standardize", "x/Sub").gap({2, 4}, {21}) <= kNear);
}

TEST_CASE("names of classes are taken where they are as many as numbers") {
  const auto classes = [](const std::string& text, int units) {
    Graph graph({-1, 2});
    graph.reals("w", {2, units}, Reals(static_cast<std::size_t>(2 * units), 1))
        .node("Gemm", {"x", "w"}, "y");
    say(graph, "classes", text);
    return graph.imported().model->data.classes;
  };
  using Names = std::vector<std::string>;
  CHECK(classes(R"(["cat","dog","emu"])", 3) == Names{"cat", "dog", "emu"});
  CHECK(classes(R"(["no","yes"])", 1) == Names{"no", "yes"});
  for (const char* odd : {R"(["cat","dog"])", R"(["a","b","b"])", "[1,2,3]",
                          R"(["a","b",""])", "cat,dog,emu", "{}", ""})
    CHECK(classes(odd, 3).empty());
}

}  // namespace
}  // namespace dl::convert::onnx_import_test
