// Training in segments of tbptt_length steps: the cutting, and what a network
// makes of the parts.

#include "libcore/nn/time_segments.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::time_segments_test {
namespace {

using testing::compile;
using testing::DType;
using testing::Examples;
using testing::Shape;
using testing::Tensor;

constexpr Position kAt{1, 0, 1, 0};

const std::string kLayers = R"(
    {"type": "lstm", "units": 4, "return_sequences": true},
    {"type": "dense", "units": 3, "activation": "tanh"},
    {"type": "gru", "units": 3, "return_sequences": true},
    {"type": "output", "units": 3, "loss": "negative_log_likelihood"})";

NetworkConfig network(const std::string& more,
                      const std::string& layers = kLayers) {
  return testing::sequence("[7, 2]", layers, more);
}

std::string refusal(const std::string& more, const std::string& layers) {
  try {
    network(more, layers);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("segments have the gradients of one pass that is cut between them") {
  const int lanes = GENERATE(1, 3);
  const bool masked = GENERATE(false, true), counted = GENERATE(false, true);
  CAPTURE(lanes, masked, counted);
  const NetworkConfig at_once = network(R"(, "tbptt_length": 3)");
  const NetworkConfig cut =
      network(R"(, "tbptt_length": 3, "tbptt_update": true)");
  Examples data = testing::random_examples(at_once, 5);
  if (masked) data.features_mask = testing::lengths_mask(5, 7);
  if (counted) {
    data.mask = Tensor(DType::kF32, {5, 7});
    for (std::size_t i = 0; i < 35; ++i)
      data.mask.as<float>()[i] = static_cast<float>(i % 4);
  }
  Network whole = compile(at_once, 5, "reference", lanes),
          parts = compile(cut, 5, "reference", lanes);
  REQUIRE(whole.segments() == 1);
  REQUIRE(parts.segments() == 3);
  const double loss = whole.compute_gradient(data.batch(), kAt);
  const auto gradient = testing::values(whole, whole.update());
  for (int turn = 0; turn < 2; ++turn) {  // states start afresh
    double sum = 0;
    std::vector<double> added(gradient.size());
    for (std::int64_t s = 0; s < 3; ++s) {
      sum += parts.compute_gradient(data.batch(), kAt, s);
      const auto piece = testing::values(parts, parts.update());
      for (std::size_t i = 0; i < added.size(); ++i) added[i] += piece[i];
    }
    CHECK(sum == Approx(loss).epsilon(1e-12));
    CHECK(testing::distance(added, gradient) < 1e-12);
  }
}

TEST_CASE("a network trained in segments predicts whole sequences") {
  const NetworkConfig cut =
      network(R"(, "tbptt_length": 3, "tbptt_update": true)");
  Network trained = compile(cut, 2, "reference", 2);
  Network plain = compile(cut, 2, "reference", 1, false);
  testing::assign(plain, plain.parameters(),
                  testing::values(trained, trained.parameters()));
  const Examples data = testing::random_examples(cut, 5);
  const Tensor mask = testing::lengths_mask(5, 7);
  for (const Tensor* steps : {static_cast<const Tensor*>(nullptr), &mask}) {
    const Part input{&data.features, steps};
    std::vector<Prediction> ours, theirs;
    trained.predict({&input, 1}, ours);
    plain.predict({&input, 1}, theirs);
    REQUIRE(ours[0].values.shape() == Shape{5, 7, 3});
    CHECK(ours[0].masked == theirs[0].masked);
    CHECK((ours[0].mask() != nullptr) == (steps != nullptr));
    for (std::int64_t i = 0; i < ours[0].values.elements(); ++i)
      REQUIRE(ours[0].values.value(i) ==
              Approx(theirs[0].values.value(i)).margin(1e-7));
    for (std::int64_t i = 0; steps != nullptr && i < 35; ++i)
      REQUIRE(ours[0].mask()->value(i) == theirs[0].mask()->value(i));
  }
}

TEST_CASE("a sequence as short as a segment is not cut") {
  const NetworkConfig config =
      network(R"(, "tbptt_length": 7, "tbptt_update": true)");
  CHECK(compile(config, 2).segments() == 1);
  CHECK(to_json(config).at("tbptt_update") == true);
  CHECK(!to_json(network("")).contains("tbptt_update"));
}

TEST_CASE("a segment's tensors") {
  const NetworkConfig config =
      network(R"(, "tbptt_length": 3, "tbptt_update": true)");
  TimeSegments segments(config, layout_of(config));
  REQUIRE(segments.count() == 3);
  // Rows may be flat, labels may have a dimension of 1 behind them.
  Tensor features(DType::kF32, {2, 14}), labels(DType::kU8, {2, 7, 1}),
      counts(DType::kF32, {2});
  for (std::size_t i = 0; i < 28; ++i)
    features.as<float>()[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < 14; ++i)
    labels.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  const Batch batch{&features, &labels, &counts};
  const Batch& second = segments.cut(batch, 1);
  CHECK(second.inputs[0].values->shape() == Shape{2, 6});
  CHECK(second.inputs[0].values->value(6) == 20);
  CHECK(second.inputs[0].mask == nullptr);
  CHECK(second.outputs[0].values->shape() == Shape{2, 3, 1});
  CHECK(second.outputs[0].values->value(3) == 10);
  CHECK(second.outputs[0].mask == &counts);
  const Batch& last = segments.cut(batch, 2);
  CHECK(last.inputs[0].values->value(1) == 13);
  CHECK(last.inputs[0].values->value(2) == 0);
  REQUIRE(last.inputs[0].mask->shape() == Shape{2, 3});
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(last.inputs[0].mask->value(i) == (i % 3 == 0));
}

TEST_CASE("what cannot be cut into segments is refused") {
  const std::string cut = R"(, "tbptt_length": 3, "tbptt_update": true)";
  const std::string output =
      R"({"type": "output", "units": 3, "loss": "negative_log_likelihood"})";
  CHECK(refusal(R"(, "tbptt_update": true)", kLayers) ==
        "'test.json': tbptt_update: wants a tbptt_length, the steps between "
        "two updates");
  CHECK(refusal(cut, R"({"type": "lstm", "units": 4,
            "bidirectional": "concat", "return_sequences": true},)" +
                         output) ==
        "'test.json': layers[0] ('lstm1'): it reads sequences from both ends, "
        "so that \"tbptt_update\" cannot cut the sequence into segments");
  CHECK(refusal(cut, R"({"type": "lstm", "units": 4},)" + output) ==
        "'test.json': layers[0] ('lstm1'): it does not give a value for each "
        "step, so that \"tbptt_update\" cannot cut the sequence into segments");
  CHECK_THROWS_WITH(
      parse_network(R"({"inputs": [{"name": "x", "shape": [7, 2]}],
          "tbptt_length": 3, "tbptt_update": true, "nodes": [
          {"name": "two", "type": "stack", "from": ["x", "x"]},
          {"name": "l", "type": "lstm", "units": 2, "return_sequences": true},
          {"name": "u", "type": "unstack", "index": 0, "of": 2},
          {"name": "y", "type": "output", "units": 2, "loss": "l2"}],
          "outputs": "y"})",
                    "'g'"),
      Catch::Contains("('l'): it reads a stack, so that"));
  CHECK(refusal(cut, R"({"type": "conv1d", "filters": 4, "kernel": 3,
            "padding": "causal"},
            {"type": "lstm", "units": 4, "return_sequences": true},)" +
                         output)
            .find("layers[0] ('conv1d1'): it looks at several steps") !=
        std::string::npos);
}

}  // namespace dl::nn::time_segments_test
