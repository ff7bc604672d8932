// Opsets: which there are, what older ones say otherwise, and attributes that
// nobody reads.

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::onnx_opset_test {
namespace {

using testing::Graph;
using testing::Ints;
using testing::Reals;

constexpr double kNear = 1e-6;

Graph gemm(int opset) {
  Graph graph({-1, 2}, opset);
  graph.reals("w", {2, 1}, {1, 10}).node("Gemm", {"x", "w"}, "y");
  return graph;
}

TEST_CASE("an opset that is not known is refused") {
  for (const int opset : {1, 6, 7, 28}) CHECK(gemm(opset).refusal().empty());
  for (const int opset : {-5, 0})
    CHECK(gemm(opset).refusal() ==
          "it is of opset " + std::to_string(opset) + ", which there is not");
  CHECK(gemm(29).refusal() ==
        "it is of opset 29, and those up to 28 are known here: export it for "
        "one of these, or convert it with onnx.version_converter");
  Graph scaled({-1, 2});
  scaled.node("Scaler", {"x"}, "y")
      .with("offset", Reals{0, 0})
      .with("scale", Reals{1, 1});
  scaled.graph().mutable_node(0)->set_domain("ai.onnx.ml");
  auto& opset = *scaled.model().add_opset_import();
  opset.set_domain("ai.onnx.ml");
  opset.set_version(5);
  CHECK(scaled.refusal().empty());
  opset.set_version(6);
  CHECK(scaled.refusal().starts_with("it is of opset 6 of ai.onnx.ml"));
}

TEST_CASE("an attribute or input that is not read is refused") {
  Graph unknown({-1, 2});
  unknown.node("Relu", {"x"}, "y").with("slope", 0.5F);
  CHECK(unknown.refusal() ==
        "node 'y' (Relu): its attribute 'slope' is not read of opset 17, and "
        "may change what it does; a node without it would be needed");
  // By the opset in which it came, or went.
  const auto deep = [](int opset) {
    Graph graph({-1, 1, 2, 2}, opset);
    graph.node("SpaceToDepth", {"x"}, "y")
        .with("blocksize", std::int64_t{2})
        .with("mode", std::string("DCR"));
    return graph;
  };
  CHECK(deep(28).refusal().empty());
  CHECK(deep(13).refusal().find("its attribute 'mode'") != std::string::npos);
  Graph sum({-1, 2}, 18);
  sum.node("ReduceSum", {"x"}, "y").with("axes", Ints{1});
  CHECK(sum.refusal().find("its attribute 'axes'") != std::string::npos);
  Graph more({-1, 2});
  more.reals("c", {1}, {1}).node("Relu", {"x", "c"}, "y");
  CHECK(more.refusal() ==
        "node 'y' (Relu): its input 'c' is one more than the 1 that are read "
        "of it");
  // A node that no output needs may be anything.
  Graph beside({-1, 2});
  beside.node("Relu", {"x"}, "y").node("Tanh", {"x"}, "z").with("a", 1.0F);
  CHECK(beside.refusal().empty());
  // A constant that follows from others is one by what is read of it.
  Graph modulo({-1, 2});
  modulo.reals("a", {2}, {-5, 5})
      .reals("b", {}, {3})
      .node("Mod", {"a", "b"}, "m")
      .with("fmod", std::int64_t{1})
      .node("Add", {"x", "m"}, "y");
  CHECK(modulo.gap({0, 0}, {-2, 2}) <= kNear);
  Graph part({-1, 2});
  part.reals("c", {2, 3, 4}, Reals(24, 1))
      .node("Shape", {"c"}, "s")
      .with("start", std::int64_t{1})
      .with("end", std::int64_t{-1})
      .node("Cast", {"s"}, "f")
      .with("to", std::int64_t{1})
      .node("Mul", {"x", "f"}, "y");
  CHECK(part.gap({1, 2}, {3, 6}) <= kNear);
  // Nobody else gives nodes that stand for several.
  Graph ours({-1, 2});
  ours.node("Cube", {"x"}, "y");
  CHECK(ours.refusal().starts_with("node 'y' (Cube): there is no layer"));
  ours.graph().mutable_node(0)->set_domain("dl-tools");
  CHECK(ours.refusal().starts_with("node 'y' (Cube): it is none of ONNX's"));
}

TEST_CASE("up to opset 6 an axis says where the second operand repeats") {
  // [2, 3] and [2] from axis 1 on, of an x [1, 2, 3].
  const auto made = [](bool computed) {
    Graph graph({-1, 2, 3}, 6);
    if (computed)
      graph.node("ReduceMax", {"x"}, "c")
          .with("axes", Ints{2})
          .with("keepdims", std::int64_t{0});
    else
      graph.reals("c", {2}, {1, 10});
    return graph.node("Mul", {"x", "c"}, "m")
        .with("broadcast", std::int64_t{1})
        .with("axis", std::int64_t{computed ? 0 : 1})
        .end("m", 6);
  };
  const Reals x = {1, 2, 3, 4, 5, 6};
  CHECK(made(false).gap(x, {1, 2, 3, 40, 50, 60}) <= kNear);
  CHECK(made(true).gap(x, {3, 6, 9, 24, 30, 36}) <= kNear);
  Graph constants({-1, 2}, 6);
  constants.reals("a", {2, 2}, {1, 2, 3, 4})
      .reals("b", {2}, {1, 10})
      .node("Mul", {"a", "b"}, "w")
      .with("broadcast", std::int64_t{1})
      .with("axis", std::int64_t{0})
      .node("Gemm", {"x", "w"}, "y");
  CHECK(constants.gap({1, 1}, {31, 42}) <= kNear);
  Graph far({-1, 2}, 6);
  far.reals("c", {2}, {1, 2})
      .node("Add", {"x", "c"}, "y")
      .with("broadcast", std::int64_t{1})
      .with("axis", std::int64_t{2});
  CHECK(far.refusal().find("leaves no room") != std::string::npos);
}

TEST_CASE("what older opsets say otherwise means what it did there") {
  Graph joined({-1, 2}, 3);  // a Concat's axis was 1
  joined.node("Concat", {"x", "x"}, "y");
  CHECK(joined.gap({1, 2}, {1, 2, 1, 2}) <= kNear);
  Graph cast({-1, 2}, 5);
  cast.node("Cast", {"x"}, "y").with("to", std::string("FLOAT"));
  CHECK(cast.gap({1, 2}, {1, 2}) <= kNear);
  Graph shaped({-1, 4}, 1);
  shaped.node("Reshape", {"x"}, "r")
      .with("shape", Ints{0, 2, 2})
      .with("consumed_inputs", Ints{0})
      .node("ReduceSum", {"r"}, "y")
      .with("axes", Ints{1})
      .with("keepdims", std::int64_t{0});
  CHECK(shaped.gap({1, 2, 3, 4}, {4, 6}) <= kNear);
  Graph padded({-1, 2}, 1);
  padded.node("Pad", {"x"}, "y").with("paddings", Ints{0, 1, 0, 0});
  CHECK(padded.gap({1, 2}, {0, 1, 2}) <= kNear);
  Graph slopes({-1, 2, 2}, 6);
  slopes.reals("s", {2}, {0.5F, 0.25F}).node("PRelu", {"x", "s"}, "p");
  CHECK(slopes.end("p", 4).gap({-1, -1, -1, -1},
                               {-0.5F, -0.5F, -0.25F, -0.25F}) <= kNear);
  Graph tiled({-1, 2}, 1);
  tiled.wholes("t", {2}).wholes("a", {1}).node("Tile", {"x", "t", "a"}, "y");
  CHECK(tiled.gap({1, 2}, {1, 2, 1, 2}) <= kNear);
  Graph grown({-1, 1, 1, 2}, 1);
  grown.node("Upsample", {"x"}, "u")
      .with("height_scale", 1.0F)
      .with("width_scale", 2.0F)
      .end("u", 4);
  CHECK(grown.gap({1, 2}, {1, 1, 2, 2}) <= kNear);
}

TEST_CASE("what is in training is refused, however its opset says it") {
  const std::string sentence =
      "it is in training; export the model in eval mode";
  const auto normed = [](int opset) {
    Graph graph({-1, 2}, opset);
    graph.reals("one", {2}, {1, 1}).reals("zero", {2}, {0, 0});
    graph.node("BatchNormalization", {"x", "one", "zero", "zero", "one"}, "y");
    return graph;
  };
  CHECK(normed(6).refusal() == "node 'y' (BatchNormalization): " + sentence);
  Graph tested = normed(6);
  tested.with("is_test", std::int64_t{1});
  CHECK(tested.refusal().empty());
  CHECK(normed(9).refusal().empty());
  Graph trained = normed(9);
  trained.graph().mutable_node(0)->add_output("mean");
  CHECK(trained.refusal() == "node 'y' (BatchNormalization): " + sentence);
  Graph mode = normed(14);
  mode.with("training_mode", std::int64_t{1});
  CHECK(mode.refusal() == "node 'y' (BatchNormalization): " + sentence);
  Graph dropped({-1, 2}, 13);
  dropped.reals("r", {}, {0.5F}).wholes("t", {1});
  dropped.node("Dropout", {"x", "r", "t"}, "y");
  CHECK(dropped.refusal() == "node 'y' (Dropout): " + sentence);
  Graph old({-1, 2}, 6);
  old.node("Dropout", {"x"}, "y");
  CHECK(old.refusal() == "node 'y' (Dropout): " + sentence);
  old.with("is_test", std::int64_t{1});
  CHECK(old.refusal().empty());
}

}  // namespace
}  // namespace dl::convert::onnx_opset_test
