// Loops that are recurrent layers, as converters of TensorFlow write them.

#include <cmath>

#include "tests/unit/convert/import/onnx_graphs.h"

namespace dl::convert::onnx_loop_test {
namespace {

using testing::Graph;
using testing::Ints;

constexpr double kNear = 1e-6;

// x [n, 2, 1] step by step, with a state of one number.
class Looped {
 public:
  Looped() : graph_({-1, 2, 1}) {
    graph_.reals("w", {1, 1}, {2}).reals("r", {1, 1}, {0.5F});
    graph_.reals("b", {1}, {1})
        .reals("one", {}, {1})
        .reals("zero", {1, 1}, {0});
    whole("steps", 2);
    whole("first", 0);
    whole("next", 1);
    whole("yes", 1, ::onnx::TensorProto::BOOL);
    graph_.node("Transpose", {"x"}, "t").with("perm", Ints{1, 0, 2});
    graph_.node("Loop", {"steps", "yes", "first", "zero"}, "count");
    auto& loop = *graph_.graph().mutable_node(1);
    loop.add_output("last");
    loop.add_output("all");
    auto& given = *loop.add_attribute();
    given.set_name("body");
    given.set_type(::onnx::AttributeProto::GRAPH);
    body_ = given.mutable_g();
    for (const char* name : {"i", "on", "at", "h"})
      body_->add_input()->set_name(name);
    for (const char* name : {"on", "more", "state", "each"})
      body_->add_output()->set_name(name);
    step("Add", {"at", "next"}, "more");
    step("Gather", {"t", "at"}, "now");
    step("Identity", {"state"}, "each");
  }

  Looped& step(const std::string& op, const std::vector<std::string>& in,
               const std::string& out) {
    auto& node = *body_->add_node();
    node.set_op_type(op);
    for (const std::string& one : in) node.add_input(one);
    node.add_output(out);
    return *this;
  }
  // f(x w + h r + b)
  Looped& simple(const char* function) {
    return step("MatMul", {"h", "r"}, "m")
        .step("MatMul", {"now", "w"}, "n")
        .step("Add", {"n", "b"}, "o")
        .step("Add", {"o", "m"}, "s")
        .step(function, {"s"}, "state");
  }
  void whole(const std::string& name, std::int64_t value,
             int type = ::onnx::TensorProto::INT64) {
    auto& tensor = *graph_.graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    if (type == ::onnx::TensorProto::INT64)
      tensor.add_int64_data(value);
    else
      tensor.add_int32_data(static_cast<std::int32_t>(value));
  }
  // Ends with the output that is read: "last", or "all" [steps, n, 1].
  Graph& end(const char* output) {
    return std::string(output) == "last"
               ? graph_.end("last", 1)
               : graph_.node("Transpose", {"all"}, "a")
                     .with("perm", Ints{1, 0, 2})
                     .end("a", 2);
  }
  Graph& graph() { return graph_; }
  ::onnx::GraphProto& body() { return *body_; }

 private:
  Graph graph_;
  ::onnx::GraphProto* body_ = nullptr;
};

TEST_CASE("a loop that is a simple recurrent layer is one") {
  // max(2 + 1, 0), and max(4 + 1.5 + 1, 0)
  CHECK(Looped().simple("Relu").end("all").gap({1, 2}, {3, 6.5F}) <= kNear);
  CHECK(Looped().simple("Relu").end("last").gap({1, 2}, {6.5F}) <= kNear);
  CHECK(Looped().simple("Tanh").end("last").gap(
            {0, 0}, {std::tanh(1 + 0.5F * std::tanh(1.0F))}) <= kNear);
  const Imported made = Looped().simple("Tanh").end("last").imported();
  CHECK(made.model->config.layers.at(0).type->name == "simple_rnn");
}

TEST_CASE("a loop that is a gru is one, wherever it resets") {
  for (const bool before : {false, true}) {
    INFO(before);
    Looped looped;
    // Update, reset and candidate, each of one number.
    looped.graph()
        .reals("gw", {1, 3}, {1, -1, 2})
        .reals("gr", {1, 3}, {0.5F, 1, -2});
    looped.graph().reals("gb", {3}, {0.25F, 0, 1});
    const auto cut = [&](const std::string& from, int i) {
      const std::string to = from + std::to_string(i);
      looped.graph().wholes(to + ".b", {i}).wholes(to + ".e", {i + 1});
      looped.step("Slice", {from, to + ".b", to + ".e", "axis"}, to);
    };
    looped.graph().wholes("axis", {1});
    looped.step("MatMul", {"now", "gw"}, "n").step("Add", {"n", "gb"}, "xs");
    looped.step("MatMul", {"h", "gr"}, "hs");
    for (const int i : {0, 1, 2}) cut("xs", i);
    for (const int i : {0, 1, 2}) cut("hs", i);
    cut("gr", 2);
    looped.step("Add", {"xs0", "hs0"}, "u").step("Sigmoid", {"u"}, "z");
    looped.step("Add", {"xs1", "hs1"}, "v").step("Sigmoid", {"v"}, "q");
    if (before)
      looped.step("Mul", {"q", "h"}, "k").step("MatMul", {"k", "gr2"}, "l");
    else
      looped.step("Mul", {"q", "hs2"}, "l");
    looped.step("Add", {"xs2", "l"}, "c").step("Tanh", {"c"}, "d");
    looped.step("Sub", {"one", "z"}, "y1").step("Mul", {"y1", "d"}, "y2");
    looped.step("Mul", {"z", "h"}, "y3").step("Add", {"y2", "y3"}, "state");
    // With one number, whose product is one of numbers, these are the same.
    const auto next = [](double x, double h) {
      const auto s = [](double v) { return 1 / (1 + std::exp(-v)); };
      const double z = s(x + 0.25 + 0.5 * h), q = s(-x + h),
                   d = std::tanh(2 * x + 1 - 2 * q * h);
      return z * h + (1 - z) * d;
    };
    const double first = next(1, 0), second = next(-2, first);
    Graph& graph = looped.end("all");
    CHECK(graph.gap({1, -2}, {static_cast<float>(first),
                              static_cast<float>(second)}) <= kNear);
    CHECK(graph.imported().model->config.layers.at(0).type->name == "gru");
  }
}

TEST_CASE("a loop that does anything else is refused") {
  const std::string sentence = "node 'count' (Loop): it is a loop that is no";
  Looped other;
  other.step("MatMul", {"now", "w"}, "n").step("Mul", {"n", "h"}, "state");
  CHECK(other.end("last").refusal().starts_with(sentence));
  // Other steps than there are: fewer, from the second on, two at a time.
  Looped fewer;
  fewer.simple("Tanh");
  fewer.graph().graph().mutable_initializer(5)->set_int64_data(0, 1);
  CHECK(fewer.end("last").refusal().starts_with(sentence));
  Looped later;
  later.simple("Tanh");
  later.graph().graph().mutable_initializer(6)->set_int64_data(0, 1);
  CHECK(later.end("last").refusal().starts_with(sentence));
  Looped faster;
  faster.simple("Tanh");
  faster.graph().graph().mutable_initializer(7)->set_int64_data(0, 2);
  CHECK(faster.end("last").refusal().starts_with(sentence));
  // A state that begins with another number.
  Looped begun;
  begun.simple("Tanh");
  begun.graph().graph().mutable_initializer(4)->set_float_data(0, 1);
  CHECK(begun.end("last").refusal().starts_with(sentence));
  // It gathers another value than its state.
  Looped gathered;
  gathered.simple("Tanh");
  gathered.body().mutable_node(2)->set_input(0, "s");
  CHECK(gathered.end("all").refusal().starts_with(sentence));
  // A cycle, and a body without what a loop has.
  Looped round;
  round.step("Tanh", {"state"}, "k").step("Tanh", {"k"}, "state");
  CHECK(round.end("last").refusal().starts_with(sentence));
  Looped bare;
  bare.simple("Tanh");
  bare.body().mutable_input()->RemoveLast();
  CHECK(bare.end("last").refusal() ==
        "node 'count' (Loop): its body is not one of a loop");
}

}  // namespace
}  // namespace dl::convert::onnx_loop_test
