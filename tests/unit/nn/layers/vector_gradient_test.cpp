// Gradients of layers over vectors and sequences, with the options that matter.

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::vector_gradient_test {
namespace {

constexpr std::int64_t kExamples = 4;

const std::string kEnd = R"({"type": "output", "name": "end", "units": 2,
    "loss": "negative_log_likelihood"})";

NetworkConfig graph(const std::string& inputs, const std::string& nodes,
                    const std::string& more = "") {
  return parse_network(R"({"seed": 3, "inputs": [)" + inputs +
                           R"(], "nodes": [)" + nodes + ", " + kEnd +
                           R"(], "outputs": "end")" + more + "}",
                       "'g.json'");
}

// With a mask for each input that is a sequence.
void check_gradient(const NetworkConfig& config) {
  constexpr Position kAt{3, 0, 5};
  INFO(dump_json(config.source));
  data::DataSet set = testing::random_set(config, kExamples);
  for (const WantedInput& input : wanted_by(config, layout_of(config)).inputs)
    if (input.sequence)
      set.tensors[input.mask] =
          testing::lengths_mask(kExamples, input.shape[0]);
  Network network = testing::compile(config, kExamples, "reference", 2);
  testing::stir(network);
  const Batch batch = network.batch_of(set);
  const auto loss = [&] { return network.compute_gradient(batch, kAt); };
  loss();
  const auto gradient = testing::values(network, network.update());
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  REQUIRE(largest > 1e-3);
  CHECK(testing::gradient_error(network, gradient, 20, loss, 1e-3 * largest) <=
        testing::kTolerance);
}

void check_gradient(const std::string& shape, const std::string& layers) {
  check_gradient(testing::sequence(shape, layers + ", " + kEnd));
}

const std::string kVector = R"({"type": "dense", "name": "d", "units": 6,
    "activation": "tanh"}, )";
const std::string kSteps = R"({"type": "gru", "name": "g", "units": 4,
    "return_sequences": true}, )";
const std::string kLast = R"(, {"type": "lstm", "name": "l", "units": 3})";

TEST_CASE("gradients of a loss that draws classes to their centers",
          "[gradient]") {
  // Where centers follow as fast as the loss says.
  const std::string end = R"({"type": "center_loss", "units": 3,
      "loss": "negative_log_likelihood", "lambda": 0.7, "alpha": 0.7)";
  for (const char* more : {"}", R"(, "bias": false, "loss_weight": 0.5})"}) {
    check_gradient(testing::sequence("[5]", kVector + end + more));
    check_gradient(testing::sequence("[4, 3]", kSteps + end + more));
  }
}

TEST_CASE("the loss of a center is that of its distance") {
  const auto loss = [](double lambda) {
    const NetworkConfig config = testing::sequence(
        "[2]", R"({"type": "center_loss", "units": 2, "alpha": 0.5,
        "loss": "negative_log_likelihood", "lambda": )" +
                   std::to_string(lambda) + "}");
    Network network = testing::compile(config, 2);
    tensor::Tensor x(tensor::DType::kF64, {2, 2}), y(tensor::DType::kI32, {2});
    std::ranges::copy(std::vector<double>{3, 4, 1, 0}, x.as<double>().begin());
    std::ranges::copy(std::vector<int>{1, 0}, y.as<std::int32_t>().begin());
    const double value = network.compute_gradient({&x, &y}, {});
    // Centers start at 0; each is to go towards its example.
    const auto g = testing::values(network, network.update());
    const std::vector<double> centers(g.end() - 4, g.end());
    CHECK(testing::distance(centers, {-0.25, 0, -0.75, -1}) < 1e-12);
    return value;
  };
  CHECK(loss(0.4) - loss(0) == Approx(0.2 * (25 + 1) / 2));
}

TEST_CASE("gradients of cells with peepholes", "[gradient]") {
  check_gradient("[5, 3]", R"({"type": "lstm", "name": "p", "units": 3,
      "peepholes": true, "bidirectional": "concat"})");
  check_gradient("[5, 3]", R"({"type": "lstm", "name": "p", "units": 3,
      "peepholes": true, "bias": false, "gate_activation": "softsign",
      "return_sequences": true}, {"type": "last_step", "name": "s"})");
}

TEST_CASE("gradients of normalisations of an example", "[gradient]") {
  check_gradient("[5]", kVector + R"({"type": "layer_norm"})");
  check_gradient("[4, 3]", kSteps + R"({"type": "layer_norm"})" + kLast);
  check_gradient("[4, 3]",
                 kSteps + R"({"type": "group_norm", "groups": 2})" + kLast);
  for (const char* groups : {"1", "2", "4"})
    check_gradient("[3, 3, 2]",
                   R"({"type": "conv2d", "filters": 4, "kernel": [2, 2]},
                   {"type": "group_norm", "groups": )" +
                       std::string(groups) + "}");
}

TEST_CASE("gradients of attention", "[gradient]") {
  for (const char* more :
       {"", R"(, "causal": true)", R"(, "bias": false, "causal": true)"})
    check_gradient("[4, 3]", kSteps + R"({"type": "multi_head_attention",
        "heads": 2, "head_size": 3)" +
                                 more + "}" + kLast);
  check_gradient(graph(R"({"name": "a", "shape": [3, 2]},
                          {"name": "b", "shape": [5, 3]})",
                       R"({"type": "gru", "name": "g", "units": 4,
        "return_sequences": true, "from": "b"},
      {"type": "gru", "name": "f", "units": 3, "return_sequences": true,
       "from": "a"},
      {"type": "multi_head_attention", "name": "m", "heads": 2,
       "head_size": 2, "from": ["f", "g"]},
      {"type": "gru", "name": "r", "units": 3})"));
}

TEST_CASE("gradients of what knows the place of a step", "[gradient]") {
  check_gradient("[4, 3]", R"({"type": "positional_embedding"})" + kLast);
  check_gradient("[4, 3]", kSteps +
                               R"({"type": "positional_embedding",
                                   "sinusoidal": true})" +
                               kLast);
  check_gradient("[4, 3]", kSteps + R"({"type": "last_step"})");
  check_gradient("[4, 3]", kSteps + R"({"type": "reverse"})" + kLast);
  check_gradient("[4, 3]", kSteps + R"({"type": "hold"})" + kLast);
  check_gradient("[4, 3]", kSteps +
                               R"({"type": "subset", "axis": 0, "begin": 1,
                                   "end": 3})" +
                               kLast);
  check_gradient("[3]", kVector + R"({"type": "repeat", "n": 3})" + kLast);
  check_gradient(graph(R"({"name": "a", "shape": [3]},
                          {"name": "b", "shape": [5, 3]})",
                       R"({"type": "gru", "name": "g", "units": 4,
        "return_sequences": true, "from": "b"},
      {"type": "dense", "name": "d", "units": 3, "from": "a"},
      {"type": "repeat_like", "name": "r", "from": ["d", "g"]},
      {"type": "lstm", "name": "l", "units": 3})"));
}

TEST_CASE("gradients of rows of a table", "[gradient]") {
  for (const char* masks : {"false", "true"}) {
    const std::string table =
        R"({"type": "embedding", "name": "e", "rows": 5, "units": 3,
            "from": "a", "mask_zero": )" +
        std::string(masks) + "}, ";
    check_gradient(
        graph(R"({"name": "a", "shape": [6]})",
              table + R"({"type": "gru", "name": "g", "units": 3})"));
    check_gradient(graph(R"({"name": "a", "shape": [6]})",
                         table + R"({"type": "batch_norm", "name": "n"},
        {"type": "multi_head_attention", "name": "m", "heads": 2,
         "head_size": 2},
        {"type": "last_step", "name": "l"})"));
  }
  check_gradient(graph(R"({"name": "a", "shape": [2, 3]})",
                       R"({"type": "embedding", "name": "e", "rows": 5,
                           "units": 3})"));
}

TEST_CASE("gradients of batch normalization without padding", "[gradient]") {
  check_gradient("[4, 3]", kSteps + R"({"type": "batch_norm"})" + kLast);
  check_gradient("[4, 3]", kSteps + R"({"type": "batch_norm"},
      {"type": "flatten"})");
}

TEST_CASE("gradients of a loss without weights", "[gradient]") {
  for (const char* loss : {"negative_log_likelihood", "mean_squared_error"})
    check_gradient(
        testing::sequence("[4, 3]", kSteps + R"({"type": "dense", "units": 2},
        {"type": "loss", "units": 2, "loss": ")" +
                                        loss + R"("})"));
  check_gradient(testing::sequence("[3]", kVector +
                                              R"({"type": "loss", "units": 6,
      "loss": "mean_squared_error", "activation": "tanh"})"));
}

TEST_CASE("gradients of vertices", "[gradient]") {
  check_gradient("[3]", kVector + R"({"type": "scale", "factor": -1.5},
      {"type": "shift", "amount": 0.5},
      {"type": "activation", "activation": "tanh"})");
  check_gradient("[3]",
                 kVector + R"({"type": "subset", "begin": 2, "end": 5})");
  check_gradient("[3]", kVector + R"({"type": "reshape", "shape": [2, 3]},
      {"type": "permute", "axes": [1, 0]}, {"type": "flatten"})");
  check_gradient("[3, 3, 2]",
                 R"({"type": "conv2d", "filters": 4, "kernel": [2, 2]},
      {"type": "permute", "axes": [2, 0, 1]},
      {"type": "conv2d", "filters": 3, "kernel": [2, 2]})");
  for (const char* type : {"dot", "l2_distance"})
    check_gradient(graph(R"({"name": "a", "shape": [3]})", kVector + R"(
        {"type": "dense", "name": "e", "units": 6, "from": "a"},
        {"type": ")" + type + R"(", "name": "it", "from": ["d", "e"]})"));
  check_gradient("[3]", kVector + R"({"type": "l2_normalize"})");
}

TEST_CASE("gradients of what is stacked", "[gradient]") {
  check_gradient(graph(R"({"name": "a", "shape": [4, 3]},
                          {"name": "b", "shape": [4, 3]})",
                       R"({"type": "stack", "name": "s", "from": ["a", "b"]},
      {"type": "positional_embedding", "name": "p"},
      {"type": "gru", "name": "g", "units": 4, "return_sequences": true},
      {"type": "multi_head_attention", "name": "m", "heads": 2,
       "head_size": 2},
      {"type": "dropout", "name": "dropped"},
      {"type": "spatial_dropout", "name": "more", "rate": 0.3},
      {"type": "last_step", "name": "l"},
      {"type": "unstack", "name": "u", "index": 0, "of": 2, "from": "l"},
      {"type": "unstack", "name": "v", "index": 1, "from": "l"},
      {"type": "l2_distance", "name": "d", "from": ["u", "v"]},
      {"type": "merge", "name": "all", "from": ["u", "v", "d"]})"));
}

TEST_CASE("gradients of slopes, noise and masking", "[gradient]") {
  for (const char* slopes : {"channel", "element"}) {
    check_gradient(
        "[3]", kVector + R"({"type": "prelu", "slopes": ")" + slopes + "\"}");
    check_gradient("[2, 3, 2]", R"({"type": "prelu", "slopes": ")" +
                                    std::string(slopes) + "\"}");
  }
  for (const char* type : {"spatial_dropout", "stochastic_depth",
                           "alpha_dropout", "gaussian_dropout"}) {
    check_gradient("[3]",
                   kVector + R"({"type": ")" + type + R"(", "rate": 0.3})");
    check_gradient("[4, 3]", kSteps + R"({"type": ")" + type + R"("})" + kLast);
  }
  check_gradient("[3]",
                 kVector + R"({"type": "gaussian_noise", "deviation": 0.5})");
  check_gradient("[3]", kVector + R"({"type": "element_multiply"})");
  check_gradient("[4, 3]", kSteps + R"({"type": "masking"})" + kLast);
}

}  // namespace
}  // namespace dl::nn::vector_gradient_test
