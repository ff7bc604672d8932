// Gradients in float64 on the reference device against finite differences, for
// every layer, activation and loss.

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::gradient_test {
namespace {

using testing::compile;
using testing::Examples;
using testing::gradient_error;
using testing::kTolerance;
using testing::random_examples;
using testing::sequence;
using testing::stir;

constexpr Position kAt{3, 0, 5};
void check_gradient(const NetworkConfig& config, std::int64_t n = 4,
                    int lanes = 1, std::int64_t most = 40, bool masked = false,
                    bool lengths = false) {
  INFO(dump_json(config.source));
  Network network = compile(config, n, "reference", lanes);
  stir(network);
  Examples data = random_examples(config, n);
  if (masked) {
    data.mask = tensor::Tensor(tensor::DType::kF32, {n});
    for (std::int64_t i = 0; i < n; ++i)
      data.mask.as<float>()[static_cast<std::size_t>(i)] =
          static_cast<float>(i) * 0.5f;
  }
  if (lengths)
    data.features_mask = testing::lengths_mask(n, config.inputs[0].shape[0]);
  const auto loss = [&] { return network.compute_gradient(data.batch(), kAt); };
  CHECK(loss() != 0);
  const auto gradient = testing::values(network, network.update());
  CHECK(gradient_error(network, gradient, most, loss) <= kTolerance);
}

const std::string kSoftmax =
    R"({"type": "output", "units": 3, "activation": "softmax",
        "loss": "negative_log_likelihood"})";

std::string dense(const std::string& activation) {
  return R"({"type": "dense", "units": 5, "activation": )" + activation + "}, ";
}

TEST_CASE("gradients of dense with every activation", "[gradient]") {
  const std::string activation = GENERATE(
      as<std::string>{}, R"("identity")", R"("relu")", R"("leaky_relu")",
      R"({"type": "leaky_relu", "alpha": 0.3})", R"("elu")",
      R"({"type": "elu", "alpha": 0.7})", R"("gelu")", R"("sigmoid")",
      R"("tanh")", R"("softplus")", R"("softmax")", R"("relu6")", R"("selu")",
      R"("swish")", R"("mish")", R"({"type": "swish", "beta": 1.702})",
      R"("softsign")", R"("cube")",
      R"({"type": "thresholded_relu", "theta": 0.25})",
      R"({"type": "capped_relu", "max": 1.5})",
      R"({"type": "capped_relu", "max": 1.5, "threshold": 0.1,
                   "negative_slope": 0.3})",
      R"("hard_sigmoid")", R"({"type": "hard_sigmoid", "slope": 0.5})",
      R"("hard_tanh")", R"("rational_tanh")", R"("rectified_tanh")", R"("exp")",
      R"("log_softmax")", R"({"type": "gelu", "approximate": true})");
  check_gradient(sequence("[4]", dense(activation) + kSoftmax));
  check_gradient(sequence(
      "[4]", dense(R"("tanh")") + R"({"type": "activation", "activation": )" +
                 activation + "}, " + kSoftmax));
}

// Whether such an output stays where the loss has its logarithms.
bool goes_with(device::Loss loss, device::Activation activation) {
  using device::Activation;
  using device::Loss;
  const bool softmax = activation == Activation::kSoftmax;
  const bool sigmoid = activation == Activation::kSigmoid;
  switch (loss) {
    case Loss::kNegativeLogLikelihood:
    case Loss::kBinaryCrossEntropy:
    case Loss::kKlDivergence:
      return softmax || sigmoid;
    case Loss::kFocal:
      return softmax;
    case Loss::kBinaryFocal:
      return sigmoid;
    case Loss::kPoisson:
    case Loss::kExponential:
      return softmax || sigmoid || activation == Activation::kSoftplus ||
             activation == Activation::kExp;
    case Loss::kMeanSquaredLogarithmicError:  // 0 below 0
      return softmax || sigmoid || activation == Activation::kExp;
    default:
      return true;
  }
}

TEST_CASE("gradients of every loss with every activation of the output",
          "[gradient]") {
  for (const std::string_view name : names_of<device::Loss>())
    for (const auto activation :
         {device::Activation::kSoftmax, device::Activation::kSigmoid,
          device::Activation::kSoftplus, device::Activation::kIdentity,
          device::Activation::kTanh, device::Activation::kGelu,
          device::Activation::kExp}) {
      const auto loss = named<device::Loss>(name);
      if (!goes_with(loss, activation)) continue;
      INFO(name << ", " << name_of(activation));
      NetworkConfig config = sequence("[4]", dense(R"("tanh")") + kSoftmax);
      LayerSettings& output = config.layers.back().settings;
      output.set("loss", name);
      output.set("activation", name_of(activation));
      check_gradient(config);
      check_gradient(config, 5, 2, 40, true);
    }
}

TEST_CASE("gradients of losses with their parameters", "[gradient]") {
  const std::string output = GENERATE(
      as<std::string>{},
      R"("units": 3, "loss": {"type": "huber", "delta": 0.2})",
      R"("units": 3, "loss": {"type": "focal", "gamma": 1.5, "alpha": 0.25},
         "label_smoothing": 0.1, "class_weights": [1, 0.5, 3])",
      R"("units": 3, "loss": {"type": "binary_focal", "gamma": 0.5,
         "alpha": 0.25}, "label_smoothing": 0.1, "class_weights": [1, 0, 3])",
      R"("units": 1, "loss": {"type": "binary_focal", "alpha": 0.25},
         "class_weights": [1, 3])",
      R"("units": 3, "loss": "negative_log_likelihood",
         "label_smoothing": 0.1, "class_weights": [1, 0.5, 3])",
      R"("units": 1, "loss": "binary_cross_entropy",
         "label_smoothing": 0.1, "class_weights": [0.5, 3])",
      R"("units": 2, "loss": "mean_squared_error", "class_weights": [0.5, 3])",
      R"("units": 1, "loss": "hinge", "class_weights": [0.5])",
      R"("units": 2, "loss": "kl_divergence", "class_weights": [0.5, 3])",
      R"("units": 2, "loss": "gaussian", "class_weights": [0.5, 3],
         "loss_weight": 2)");
  const std::string layers =
      dense(R"("tanh")") + R"({"type": "output", )" + output + "}";
  check_gradient(sequence("[4]", layers));
  check_gradient(sequence("[4]", layers), 5, 2, 40, true);
}

TEST_CASE("gradients of one sigmoid output", "[gradient]") {
  check_gradient(sequence("[4]", dense(R"("tanh")") +
                                     R"({"type": "output", "units": 1,
      "loss": "binary_cross_entropy"})"));
}

TEST_CASE("gradients without biases", "[gradient]") {
  check_gradient(sequence("[4, 4, 2]", R"(
    {"type": "conv2d", "filters": 3, "kernel": [2, 2], "bias": false,
     "activation": "tanh"},
    {"type": "dense", "units": 4, "bias": false, "activation": "tanh"},
    {"type": "output", "units": 3, "bias": false,
     "loss": "negative_log_likelihood"})"));
}

TEST_CASE("gradients of conv2d with padding, stride and dilation",
          "[gradient]") {
  const std::string shape =
      GENERATE(as<std::string>{}, R"("kernel": [1, 1])", R"("kernel": [3, 3])",
               R"("kernel": [2, 4])", R"("kernel": [3, 2], "stride": [2, 1])",
               R"("kernel": [3, 3], "stride": [2, 3])",
               R"("kernel": [2, 3], "dilation": [2, 1])",
               R"("kernel": [2, 2], "dilation": [3, 2], "stride": [1, 2])");
  const std::string padding =
      GENERATE(as<std::string>{}, R"("valid")", R"("same")");
  const std::string conv = R"({"type": "conv2d", "filters": 3, )" + shape +
                           R"(, "padding": )" + padding +
                           R"(, "activation": "tanh"}, )";
  check_gradient(sequence("[5, 6, 2]", conv + kSoftmax), 3);
  // Behind another one, so that backward_data() counts.
  check_gradient(sequence("[5, 6, 2]", R"({"type": "conv2d", "filters": 2,
      "kernel": [2, 2], "padding": "same", "activation": "sigmoid"}, )" +
                                           conv + kSoftmax),
                 3);
}

TEST_CASE("gradients through pooling", "[gradient]") {
  const std::string type =
      GENERATE(as<std::string>{}, "max_pool2d", "average_pool2d");
  const std::string shape =
      GENERATE(as<std::string>{}, R"("kernel": [2, 2])",
               R"("kernel": [3, 3], "stride": [2, 2])",
               R"("kernel": [3, 2], "stride": [1, 2], "padding": "same")",
               R"("kernel": [2, 2], "stride": [2, 2], "padding": "same")");
  check_gradient(
      sequence("[7, 5, 2]", R"({"type": "conv2d", "filters": 3,
      "kernel": [2, 2], "padding": "same", "activation": "tanh"}, {"type": ")" +
                                type + R"(", )" + shape + "}, " + kSoftmax),
      3);
}

TEST_CASE("gradients of batch_norm", "[gradient]") {
  const int lanes = GENERATE(1, 2, 3);
  const std::string norm = R"({"type": "batch_norm"}, )";
  check_gradient(sequence("[4]", norm + dense(R"("tanh")") + norm + kSoftmax),
                 5, lanes);
  for (const std::string activation : {"tanh", "relu"})
    check_gradient(sequence("[4, 3, 2]", R"({"type": "conv2d", "filters": 3,
      "kernel": [2, 2], "bias": false}, {"type": "batch_norm", "epsilon": 0.1},
      {"type": "activation", "activation": ")" +
                                             activation + R"("}, )" + kSoftmax),
                   4, lanes);
}

TEST_CASE("gradients of batch_norm with relu where it is frozen or has padding",
          "[gradient]") {
  const std::string relu = R"({"type": "activation", "activation": "relu"}, )";
  check_gradient(sequence("[4]", dense(R"("tanh")") +
                                     R"({"type": "batch_norm", "frozen": true},
                                     )" +
                                     relu + kSoftmax),
                 5, 2);
  check_gradient(
      sequence("[4, 3]",
               R"({"type": "gru", "units": 4, "return_sequences": true},
      {"type": "batch_norm"}, )" +
                   relu + kSoftmax),
      5, 2, 40, false, true);
}

TEST_CASE("gradients of batch_norm with more lanes than examples",
          "[gradient]") {
  check_gradient(sequence("[4]", dense(R"("tanh")") +
                                     R"({"type": "batch_norm"}, )" + kSoftmax),
                 3, 5);
}

TEST_CASE("gradients of rrelu", "[gradient]") {
  const int lanes = GENERATE(1, 2);
  check_gradient(sequence("[4]", dense(R"("tanh")") + R"({"type": "rrelu"},
      {"type": "rrelu", "lower": 0.2, "upper": 0.9}, )" +
                                     kSoftmax),
                 5, lanes);
}

TEST_CASE("gradients of dropout and flatten", "[gradient]") {
  const int lanes = GENERATE(1, 2);
  check_gradient(sequence("[3, 3, 2]", R"({"type": "dropout", "rate": 0.2},
      {"type": "conv2d", "filters": 3, "kernel": [2, 2], "activation": "tanh"},
      {"type": "flatten"}, {"type": "dropout"}, )" +
                                           dense(R"("tanh")") + kSoftmax),
                 4, lanes);
}

TEST_CASE("gradients of recurrent layers", "[gradient]") {
  const std::string type =
      GENERATE(as<std::string>{}, R"("lstm")", R"("gru")", R"("simple_rnn")",
               R"("gru", "reset_before": true)");
  const std::string more = GENERATE(
      as<std::string>{}, "", R"(, "bias": false, "activation": "sigmoid")",
      R"(, "activation": "softsign")", R"(, "bidirectional": "concat")",
      R"(, "bidirectional": "add")", R"(, "bidirectional": "multiply")",
      R"(, "bidirectional": "average")");
  const auto recurrent = [&](int units, bool sequences) {
    return R"({"type": )" + type + R"(, "units": )" + std::to_string(units) +
           R"(, "weight_init": {"type": "normal", "deviation": 0.8},
              "return_sequences": )" +
           (sequences ? "true" : "false") + more + "}, ";
  };
  for (const bool lengths : {false, true}) {
    // The last step of two layers, behind a dense one that takes each step.
    check_gradient(sequence("[5, 3]", dense(R"("tanh")") + recurrent(4, true) +
                                          recurrent(3, false) + kSoftmax),
                   6, lengths ? 2 : 1, 12, lengths, lengths);
    // A loss at each step.
    check_gradient(
        sequence("[4, 3]", recurrent(3, true) + dense(R"("gelu")") + kSoftmax),
        5, lengths ? 2 : 1, 12, lengths, lengths);
  }
}

TEST_CASE("gradients of losses at each step", "[gradient]") {
  const std::string output = GENERATE(
      as<std::string>{}, R"("units": 1, "loss": "binary_cross_entropy")",
      R"("units": 3, "loss": "mean_squared_error", "activation": "softmax")",
      R"("units": 2, "loss": "mean_absolute_error")");
  check_gradient(
      sequence("[4, 3]",
               R"({"type": "gru", "units": 4, "return_sequences": true},
      {"type": "batch_norm"}, {"type": "dropout", "rate": 0.2},
      {"type": "output", )" +
                   output + "}"),
      5, 2, 40, false, true);
}

TEST_CASE("a weight for each step multiplies its loss", "[gradient]") {
  const NetworkConfig config = sequence(
      "[4, 2]",
      R"({"type": "lstm", "units": 3, "return_sequences": true}, )" + kSoftmax);
  Network network = compile(config, 3, "reference", 2);
  Examples data = random_examples(config, 3);
  data.mask = tensor::Tensor(tensor::DType::kF32, {3, 4});
  const auto weights = data.mask.as<float>();
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::fill(weights.begin(), weights.end(), 0.0f);
    weights[i] = static_cast<float>(i);
    sum += network.compute_gradient(data.batch(), kAt);
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i);
  CHECK(network.compute_gradient(data.batch(), kAt) == Approx(sum));
  const auto gradient = testing::values(network, network.update());
  CHECK(gradient_error(network, gradient, 40, [&] {
          return network.compute_gradient(data.batch(), kAt);
        }) <= kTolerance);
}

// Cut into segments of tbptt_length, a sequence has the gradients of its parts.
TEST_CASE("tbptt_length cuts gradients, not the state", "[gradient]") {
  const std::string layers =
      R"({"type": "simple_rnn", "units": 3, "return_sequences": true}, )" +
      kSoftmax;
  const NetworkConfig whole = sequence("[6, 2]", layers);
  const NetworkConfig cut =
      sequence("[6, 2]", layers, R"(, "tbptt_length": 2)");
  const NetworkConfig part = sequence("[2, 2]", layers);
  const Examples data = random_examples(whole, 4);
  Network a = compile(whole, 4), b = compile(cut, 4);
  CHECK(a.compute_gradient(data.batch(), kAt) ==
        b.compute_gradient(data.batch(), kAt));
  CHECK(testing::distance(testing::values(a, a.update()),
                          testing::values(b, b.update())) > 1e-3);
  // Without recurrent weights there is no state to carry on.
  std::vector<double> w = testing::values(b, b.parameters());
  const Segment& r = b.parameter_segments()[1];
  REQUIRE(r.name == "simple_rnn1/recurrent_weight");
  std::fill_n(w.begin() + r.offset, r.elements(), 0.0);
  testing::assign(b, b.parameters(), w);
  b.compute_gradient(data.batch(), kAt);
  Network c = compile(part, 4);
  testing::assign(c, c.parameters(), w);
  std::vector<double> sum(w.size());
  for (std::int64_t s = 0; s < 3; ++s) {
    Examples piece = random_examples(part, 4);
    for (std::int64_t i = 0; i < 8; ++i) {
      const std::int64_t from = i / 2 * 6 + s * 2 + i % 2;
      piece.labels.as<std::int32_t>()[static_cast<std::size_t>(i)] =
          data.labels.as<std::int32_t>()[static_cast<std::size_t>(from)];
      for (std::int64_t k = 0; k < 2; ++k)
        piece.features.as<double>()[static_cast<std::size_t>(2 * i + k)] =
            data.features.as<double>()[static_cast<std::size_t>(2 * from + k)];
    }
    c.compute_gradient(piece.batch(), kAt);
    const auto g = testing::values(c, c.update());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += g[i];
  }
  std::vector<double> gradient = testing::values(b, b.update());
  // These have the state at the start of a segment as a factor.
  for (auto* g : {&gradient, &sum})
    std::fill_n(g->begin() + r.offset, r.elements(), 0.0);
  CHECK(testing::distance(gradient, sum) < 1e-12);
}

TEST_CASE("gradients of regularization agree with its score", "[gradient]") {
  const std::string more = R"(, "regularization": {"l1": 0.01, "l2": 0.03,
      "l1_bias": 0.02, "l2_bias": 0.05}, "bias_init": 0.1,
      "updater": {"type": "sgd", "learning_rate": 1})";
  const NetworkConfig config =
      sequence("[4]", dense(R"("tanh")") + kSoftmax, more);
  const int lanes = GENERATE(1, 2);
  Network network = compile(config, 4, "reference", lanes);
  stir(network);
  const Examples data = random_examples(config, 4);
  const auto score = [&] {
    return network.compute_gradient(data.batch(), kAt) +
           network.regularization_score();
  };
  CHECK(network.regularization_score() > 0.01);
  score();
  network.compute_update(kAt);  // sgd with rate 1: the gradient itself
  const auto gradient = testing::values(network, network.update());
  CHECK(gradient_error(network, gradient, 40, score) <= kTolerance);
}

TEST_CASE("gradients of the CIFAR-10 network at reduced size", "[gradient]") {
  NetworkConfig config = testing::example_network("cifar10.json");
  config.inputs[0].shape = {8, 8, 3};
  for (LayerConfig& layer : config.layers) {
    // Smooth, for of so many relus one is always at its kink.
    LayerSettings& s = layer.settings;
    if (s.has("activation") && s.at("activation") == "relu")
      s.set("activation", "tanh");
    if (layer.type->name == "conv2d")
      s.set("filters", s.integer("filters") / 16);
    if (layer.type->name == "dense") s.set("units", s.integer("units") / 64);
  }
  check_gradient(config, 3, 1, 6);
}

}  // namespace
}  // namespace dl::nn::gradient_test
