// Graphs of ONNX that would become another network than they say, or one
// without end: each is refused in a sentence.

#include <cmath>

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::onnx_refused_test {
namespace {

using testing::Graph;
using testing::Ints;
using testing::Reals;

constexpr double kNear = 1e-6;

Graph gemm(int opset = 17) {
  Graph graph({-1, 2}, opset);
  graph.reals("w", {2, 1}, {1, 10}).node("Gemm", {"x", "w"}, "y");
  return graph;
}

void say(Graph& graph, const std::string& key, const std::string& value) {
  auto& entry = *graph.model().add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

// x [1, 1, 2, 1] resized to the nearest, with a factor of 2 for each row.
Graph resized(const std::string& places, const std::string& rounding) {
  Graph graph({-1, 1, 2, 1});
  graph.reals("s", {4}, {1, 1, 2, 1})
      .node("Resize", {"x", "", "s"}, "r")
      .with("coordinate_transformation_mode", places)
      .with("nearest_mode", rounding);
  return graph.end("r", 4);
}

TEST_CASE("a Resize to the nearest place takes that") {
  for (const char* places : {"half_pixel", "pytorch_half_pixel"}) {
    INFO(places);
    for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil"})
      CHECK(resized(places, rounding).gap({3, 7}, {3, 3, 7, 7}) <= kNear);
    // Places are at -1/4, 1/4, 3/4 and 5/4.
    CHECK(resized(places, "floor").gap({3, 7}, {3, 3, 3, 7}) <= kNear);
    CHECK(resized(places, "ceil").gap({3, 7}, {3, 7, 7, 7}) <= kNear);
  }
  CHECK(resized("asymmetric", "floor").gap({3, 7}, {3, 3, 7, 7}) <= kNear);
  CHECK(resized("asymmetric", "round_prefer_ceil").gap({3, 7}, {3, 7, 7, 7}) <=
        kNear);
  CHECK(!resized("asymmetric", "odd").refusal().empty());
}

TEST_CASE("sizes of a Resize may name one example or the batch") {
  const auto sized = [](const Ints& sizes) {
    Graph graph({-1, 1, 2, 1});
    graph.wholes("s", sizes).node("Resize", {"x", "", "", "s"}, "r");
    return graph.end("r", 4);
  };
  CHECK(sized({1, 1, 4, 1}).gap({3, 7}, {3, 3, 7, 7}) <= kNear);
  CHECK(!sized({2, 1, 4, 1}).refusal().empty());
  Graph computed({-1, 1, 2, 1});
  computed.node("Shape", {"x"}, "all")
      .wholes("more", {1, 1, 2, 1})
      .node("Mul", {"all", "more"}, "s")
      .node("Resize", {"x", "", "", "s"}, "r")
      .end("r", 4);
  CHECK(computed.gap({3, 7}, {3, 3, 7, 7}) <= kNear);
}

TEST_CASE("a Cast cuts no numbers in silence") {
  constexpr std::int64_t kFloat = 1, kInt = 7, kBool = 9, kHalf = 10;
  const auto cast = [](bool computed, std::int64_t to) {
    Graph graph({-1, 2});
    if (computed) graph.node("Relu", {"x"}, "r");
    return graph.node("Cast", {computed ? "r" : "x"}, "c")
        .with("to", to)
        .node("Cast", {"c"}, "f")
        .with("to", kFloat)
        .end("f", 2);
  };
  for (const bool computed : {false, true}) {
    INFO(computed);
    CHECK(cast(computed, kHalf).gap({1, 2}, {1, 2}) <= kNear);
    for (const std::int64_t to : {kInt, kBool})
      CHECK(cast(computed, to).refusal() ==
            "node 'c' (Cast): it cuts numbers to whole ones or truth values; a "
            "cast between reals would be needed");
  }
  // The index of a table is an integer already, as converters of Keras write
  // it.
  Graph table({-1, 2});
  table.node("Cast", {"x"}, "i")
      .with("to", kInt)
      .reals("t", {3, 1}, {5, 6, 8})
      .node("Gather", {"t", "i"}, "g")
      .end("g", 2);
  CHECK(table.gap({2, 0}, {8, 5}) <= kNear);
  // A constant is cut as it says.
  Graph shape({-1, 2});
  shape.reals("s", {2}, {-1.5F, 2.5F})
      .node("Cast", {"s"}, "i")
      .with("to", kInt)
      .node("Reshape", {"x", "i"}, "r")
      .end("r", 2);
  CHECK(shape.gap({1, 2}, {1, 2}) <= kNear);
}

TEST_CASE("constants that grow without end are refused before they do") {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  Graph filled({-1, 2});
  filled.wholes("s", {2, kFar})
      .node("ConstantOfShape", {"s"}, "c")
      .node("MatMul", {"x", "c"}, "y");
  const std::string most = "it makes a constant of more than 67108864 numbers";
  CHECK(filled.refusal() == "node 'c' (ConstantOfShape): " + most);
  Graph expanded({-1, 2});
  expanded.wholes("s", {2, std::int64_t{1} << 30})
      .reals("one", {1, 1}, {1})
      .node("Expand", {"one", "s"}, "c")
      .node("MatMul", {"x", "c"}, "y");
  CHECK(expanded.refusal() == "node 'c' (Expand): " + most);
  Graph doubled({-1, 2});
  doubled.reals("c0", {2, 1}, {1, 2});
  for (int i = 0; i < 34; ++i) {
    const std::string from = "c" + std::to_string(i);
    doubled.node("Concat", {from, from}, "c" + std::to_string(i + 1))
        .with("axis", std::int64_t{1});
  }
  doubled.node("MatMul", {"x", "c34"}, "y");
  const std::string memory =
      "reading it takes more memory than a file of its size may";
  CHECK(doubled.refusal() == memory);
  // Several, each of which would do.
  Graph many({-1, 2});
  many.wholes("s", {2, 1 << 24})
      .wholes("t", {1 << 24, 2})
      .node("ConstantOfShape", {"s"}, "c")
      .node("ConstantOfShape", {"t"}, "d")
      .node("MatMul", {"x", "c"}, "h")
      .node("MatMul", {"h", "d"}, "i")
      .node("MatMul", {"i", "c"}, "j")
      .node("MatMul", {"j", "d"}, "y");
  CHECK(many.refusal() == memory);
  // One for each example of a batch is none of these.
  constexpr std::int64_t kUnits = 100;
  Graph state({-1, 2, 1});
  state.reals("w", {1, kUnits, 1}, Reals(kUnits, 1))
      .reals("r", {1, kUnits, kUnits}, Reals(kUnits * kUnits, 1))
      .wholes("first", {0})
      .wholes("one", {1})
      .wholes("units", {kUnits})
      .node("Shape", {"x"}, "all")
      .node("Gather", {"all", "first"}, "batch")
      .node("Concat", {"one", "batch", "units"}, "s")
      .with("axis", std::int64_t{0})
      .node("ConstantOfShape", {"s"}, "zeros")
      .node("Transpose", {"x"}, "t")
      .with("perm", Ints{1, 0, 2})
      .node("RNN", {"t", "w", "r", "", "", "zeros"}, "y");
  CHECK(state.refusal().empty());
}

TEST_CASE("constants of no number, and of many places, are worked out never") {
  const auto with = [](const char* op, const Ints& dims,
                       const std::vector<std::string>& more) {
    Graph graph({-1, 3});
    graph.wholes("s", dims).wholes("one", {1}).wholes("two", {2});
    graph.node("ConstantOfShape", {"s"}, "c0")
        .node("Transpose", {"c0"}, "c")
        .with("perm", Ints{2, 1, 0});
    std::vector<std::string> in = {"c"};
    in.insert(in.end(), more.begin(), more.end());
    graph.node(op, in, "p");
    if (std::string(op) == "Concat") graph.with("axis", std::int64_t{1});
    return graph.node("Add", {"x", "p"}, "y");
  };
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  CHECK(!with("Gather", {0, 1, kFar}, {"one"}).refusal().empty());
  CHECK(!with("Concat", {0, 1, kFar}, {"c"}).refusal().empty());
  CHECK(!with("Slice", {0, 4, kFar}, {"one", "two", "one"}).refusal().empty());
  CHECK(!with("ReduceSum", {0, 1, 1 << 27}, {"two"}).refusal().empty());
}

TEST_CASE("normalizers and names that do not fit are not believed") {
  const auto normalized = [](float shift, float factor) {
    Graph graph({-1, 2});
    graph.reals("m", {2}, {1, shift}).reals("f", {2}, {1, factor});
    graph.reals("w", {2, 1}, {1, 10});
    graph.node("Sub", {"x", "m"}, "s").node("Mul", {"s", "f"}, "t");
    graph.graph().mutable_node(0)->set_name("x/Sub");
    graph.graph().mutable_node(1)->set_name("x/Mul");
    graph.node("Gemm", {"t", "w"}, "y");
    say(graph, "normalizer", "standardize");
    return graph;
  };
  CHECK(normalized(2, 3).refusal().empty());
  for (const float odd : {NAN, INFINITY})
    for (const bool shift : {true, false})
      CHECK(normalized(shift ? odd : 2, shift ? 3 : odd).refusal() ==
            "the normalizer of 'x' has a number that is not finite");
  const auto named = [](const char* key, const char* names) {
    Graph graph = gemm();
    say(graph, key, names);
    return graph.imported();
  };
  CHECK(named("columns", R"(["u","v"])").model->data.columns.size() == 2);
  const Imported odd = named("columns", R"(["u","v","w"])");
  CHECK(odd.model->data.columns.empty());
  CHECK(odd.notes == std::vector<std::string>{
                         "its metadata name 3 columns, and the model has 2: "
                         "the names are left out"});
  CHECK(named("targets", R"(["p","q"])").notes.size() == 1);
  CHECK(named("classes", R"(["p","q","r"])").notes.size() == 1);
  CHECK(named("classes", R"(["no","yes"])").notes.empty());
}

TEST_CASE(
    "constants of a model's code are frozen, and its parameters are not") {
  const auto frozen = [](const std::string& name) {
    Graph graph({-1, 2});
    graph.reals(name, {2}, {1, 2}).reals("w", {2, 1}, {1, 10});
    graph.node("Mul", {"x", name}, "s").node("Gemm", {"s", "w"}, "y");
    return graph.imported().model->config.layers.at(0).training.frozen;
  };
  CHECK(frozen("std"));
  CHECK(frozen("onnx::Div_12"));
  CHECK(!frozen("scale.weight"));
  CHECK(!frozen("scale/bias"));
  // A single addend is trained.
  Graph only({-1, 2});
  only.reals("b", {2}, {1, 2}).node("Add", {"x", "b"}, "y");
  CHECK(only.gap({1, 2}, {2, 4}) <= kNear);
}

TEST_CASE("a graph that no ONNX checker passes is refused") {
  Graph twice({-1, 2});
  twice.reals("w", {2, 1}, {1, 10}).node("Relu", {"x"}, "a");
  twice.node("Tanh", {"x"}, "a").node("Gemm", {"a", "w"}, "y");
  CHECK(twice.refusal() ==
        "node 'a' (Relu) and node 'a' (Tanh) both give the value 'a'");
  Graph over({-1, 2});
  over.reals("w", {2, 1}, {1, 10}).node("Relu", {"x"}, "w");
  over.node("Gemm", {"x", "w"}, "y");
  CHECK(over.refusal() ==
        "node 'w' (Relu) gives the value 'w', which is a tensor or an input of "
        "the model");
  Graph kernel({-1, 1, 5, 5});
  kernel.reals("k", {1, 1, 3, 3}, Reals(9, 1))
      .node("Conv", {"x", "k"}, "y")
      .with("kernel_shape", Ints{5, 5});
  CHECK(kernel.refusal() ==
        "node 'y' (Conv): its kernel_shape is not that of its weight");
  Graph cell({-1, 2, 3});
  cell.reals("w", {1, 4, 3}, Reals(12, 1)).reals("r", {1, 4, 1}, Reals(4, 1));
  cell.node("Transpose", {"x"}, "t").with("perm", Ints{1, 0, 2});
  cell.node("LSTM", {"t", "w", "r"}, "y").with("hidden_size", std::int64_t{1});
  auto& functions = *cell.graph().mutable_node(1)->add_attribute();
  functions.set_name("activations");
  functions.set_type(::onnx::AttributeProto::STRINGS);
  functions.add_strings("Sigmoid");
  CHECK(cell.refusal() ==
        "node 'y' (LSTM): it has 1 activations; 3 would be needed");
}

TEST_CASE("sentences say the batch, and not what it is counted as") {
  Graph turned({-1, 3});
  turned.reals("w", {3, 1}, {1, 1, 1})
      .node("Transpose", {"x"}, "t")
      .node("Gemm", {"t", "w"}, "y");
  CHECK(turned.refusal() ==
        "node 'y' (Gemm): its weight is for 3 numbers, its input has the "
        "batch");
  Graph joined({-1, 3});
  joined.reals("w", {2, 1}, {1, 1})
      .wholes("s", {-1})
      .node("Reshape", {"x", "s"}, "t")
      .node("Gemm", {"t", "w"}, "y");
  CHECK(joined.refusal() ==
        "node 'y' (Gemm): its weight is for 2 numbers, its input has 3 times "
        "the batch");
  Graph negative({-1, 2});
  negative.reals("w", {2, 1}, {1, 1}).node("Gemm", {"x", "w"}, "y");
  negative.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_value(-4);
  CHECK(negative.refusal() == "the input 'x' has a negative dimension");
}

}  // namespace
}  // namespace dl::convert::onnx_refused_test
