// Networks over sequences: shapes and names, starts, masks, checks of data.

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/data/label_mask.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/initialise.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::recurrent_test {
namespace {

using Catch::Matchers::Message;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using testing::compile;
using testing::distance;
using testing::Examples;
using testing::lengths_mask;
using testing::random_examples;
using testing::sequence;
using testing::values;

const std::string kSoftmax =
    R"({"type": "output", "units": 3, "loss": "negative_log_likelihood"})";
const std::string kLast = R"({"type": "lstm", "units": 5}, )" + kSoftmax;
const std::string kEach =
    R"({"type": "lstm", "units": 5, "return_sequences": true}, )" + kSoftmax;

std::string refusal(const std::string& shape, const std::string& layers,
                    const std::string& more = "") {
  try {
    sequence(shape, layers, more);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kConfig);
    return e.what();
  }
  return "accepted";
}

TEST_CASE("recurrent layers have weights of their directions") {
  const NetworkConfig config = sequence("[7, 3]", R"(
      {"type": "dense", "units": 4},
      {"type": "lstm", "units": 5, "return_sequences": true, "bias": false,
       "bidirectional": "concat"},
      {"type": "batch_norm"},
      {"type": "gru", "units": 2, "bidirectional": "average",
       "return_sequences": true},
      {"type": "simple_rnn", "units": 6}, {"type": "dense", "units": 2}, )" +
                                                      kSoftmax);
  const Layout layout = layout_of(config);
  const std::pair<const char*, Shape> want[] = {
      {"dense1/weight", {4, 3}},
      {"dense1/bias", {4}},
      {"lstm1/weight", {20, 4}},
      {"lstm1/recurrent_weight", {20, 5}},
      {"lstm1/backward_weight", {20, 4}},
      {"lstm1/backward_recurrent_weight", {20, 5}},
      {"batch_norm1/gamma", {10}},
      {"batch_norm1/beta", {10}},
      {"gru1/weight", {6, 10}},
      {"gru1/recurrent_weight", {6, 2}},
      {"gru1/bias", {8}},
      {"gru1/backward_weight", {6, 10}},
      {"gru1/backward_recurrent_weight", {6, 2}},
      {"gru1/backward_bias", {8}},
      {"simple_rnn1/weight", {6, 2}},
      {"simple_rnn1/recurrent_weight", {6, 6}},
      {"simple_rnn1/bias", {6}},
      {"dense2/weight", {2, 6}},
      {"dense2/bias", {2}},
      {"output1/weight", {3, 2}},
      {"output1/bias", {3}}};
  REQUIRE(layout.parameters.size() == std::size(want));
  for (std::size_t i = 0; i < std::size(want); ++i) {
    CHECK(layout.parameters[i].name == want[i].first);
    CHECK(layout.parameters[i].shape == want[i].second);
  }
  const Shape outputs[] = {{7, 4}, {7, 10}, {7, 10}, {7, 2}, {6}, {2}, {3}};
  for (std::size_t i = 0; i < std::size(outputs); ++i)
    CHECK(layout.layers[i].output.shape == outputs[i]);
  CHECK(layout.layers[1].flops == 4 * 7 * 20 * (4 + 5) + 7 * 10);
}

TEST_CASE("an input without recurrent layers is no sequence") {
  const Layout flat = layout_of(
      sequence("[8, 4]", R"({"type": "dense", "units": 2}, )" + kSoftmax));
  CHECK(flat.layers[0].output.shape == Shape{2});
  const Layout flattened =
      layout_of(sequence("[8, 4]", R"({"type": "lstm", "units": 2,
      "return_sequences": true}, {"type": "flatten"}, )" +
                                       kSoftmax));
  CHECK(flattened.layers.back().inputs[0].shape == Shape{16});
  CHECK(flattened.layers.back().output.shape == Shape{3});
}

TEST_CASE("recurrent layers are refused where they do not fit") {
  CHECK(refusal("[8, 8, 3]", kLast) ==
        "'test.json': layers[0] ('lstm1'): wants a sequence [steps, features], "
        "its input is [8, 8, 3]; a recurrent layer before it gives one with "
        "\"return_sequences\": true");
  CHECK(refusal("[8, 3]", R"({"type": "gru", "units": 2}, )" + kLast)
            .find("its input is [2]") != std::string::npos);
  CHECK(refusal("[8, 3]", kSoftmax, R"(, "tbptt_length": 4)") ==
        "'test.json': tbptt_length: the network has no recurrent layer");
  CHECK(refusal("[8, 3]", R"({"type": "lstm", "units": 2,
      "activation": "softmax"}, )" +
                              kSoftmax) ==
        "'test.json': layers[0].activation: want one of identity, relu, "
        "sigmoid, tanh, hard_sigmoid, hard_tanh, softsign, got \"softmax\"");
  CHECK(refusal("[8, 3]", R"({"type": "simple_rnn", "units": 2,
      "forget_bias_init": 2}, )" +
                              kSoftmax)
            .find("not a key of simple_rnn layer") != std::string::npos);
}

TEST_CASE("recurrent keys are read, spelt out and read again") {
  const NetworkConfig config = sequence("[8, 3]",
                                        R"(
      {"type": "lstm", "units": 2, "activation": "relu",
       "gate_activation": "tanh", "return_sequences": true,
       "bidirectional": "multiply", "forget_bias_init": 3,
       "recurrent_init": {"type": "normal", "deviation": 0.5}},
      {"type": "gru", "units": 2, "weight_init": "he"}, )" +
                                            kSoftmax,
                                        R"(, "tbptt_length": 4)");
  const NetworkConfig again = parse_network(dump_json(to_json(config)), "x");
  for (const NetworkConfig& c : {config, again}) {
    CHECK(c.tbptt_length == 4);
    const LayerConfig& lstm = c.layers[0];
    CHECK(lstm.settings.text("activation") == "relu");
    CHECK(lstm.settings.text("gate_activation") == "tanh");
    CHECK(lstm.settings.flag("return_sequences"));
    CHECK(lstm.settings.text("bidirectional") == "multiply");
    CHECK(lstm.settings.number("forget_bias_init") == 3);
    CHECK(lstm.training.weight_init.kind == WeightInit::kXavier);
    CHECK(lstm.training.recurrent_init.kind == WeightInit::kNormal);
    CHECK(lstm.training.recurrent_init.value == 0.5);
    const LayerConfig& gru = c.layers[1];
    CHECK(gru.settings.text("activation") == "tanh");
    CHECK(gru.settings.text("gate_activation") == "sigmoid");
    CHECK_FALSE(gru.settings.flag("return_sequences"));
    CHECK(gru.settings.text("bidirectional") == "none");
    CHECK(gru.training.recurrent_init.kind == WeightInit::kHe);
  }
  CHECK(to_json(again) == to_json(config));
}

TEST_CASE("forget gates start open, recurrent weights by their own rule") {
  const NetworkConfig config = sequence("[8, 3]", R"(
      {"type": "lstm", "units": 2, "bias_init": 0.25,
       "bidirectional": "concat",
       "recurrent_init": {"type": "constant", "value": 0.5}}, )" +
                                                      kSoftmax);
  const Layout layout = layout_of(config);
  const Tensor all = initial_parameters(config, layout);
  for (const Segment& s : layout.parameters) {
    if (s.layer != 0) continue;
    INFO(s.name);
    for (std::int64_t i = 0; i < s.elements(); ++i) {
      const double value = all.value(s.offset + i);
      if (s.role == Role::kBias)
        CHECK(value == (i == 2 || i == 3 ? 1 : 0.25));
      else if (s.recurrent)
        CHECK(value == 0.5);
      else
        CHECK(std::abs(value) < 5);
    }
  }
}

TEST_CASE("padding changes nothing, whatever it holds") {
  const std::string more =
      GENERATE(as<std::string>{}, "", R"(, "bidirectional": "concat")",
               R"(, "bidirectional": "multiply")");
  const std::string type =
      GENERATE(as<std::string>{}, "lstm", "gru", "simple_rnn");
  const bool each = GENERATE(false, true);
  const std::string layers =
      R"({"type": ")" + type + R"(", "units": 4, "return_sequences": )" +
      (each ? "true" : "false") + more + "}, " + kSoftmax;
  for (const char* device : {"reference", "cpu"}) {
    const NetworkConfig config = sequence("[5, 2]", layers);
    Network network = compile(config, 5, device, 2);
    Network same = compile(config, 5, device, 2);
    Examples data = random_examples(config, 5);
    data.features_mask = lengths_mask(5, 5);
    Examples other = data;
    for (std::int64_t i = 0; i < 25; ++i)
      if (data.features_mask.value(i) == 0)
        for (std::int64_t k = 0; k < 2; ++k)
          other.features.as<double>()[static_cast<std::size_t>(2 * i + k)] =
              1000;
    CHECK(network.compute_gradient(data.batch(), {}) ==
          same.compute_gradient(other.batch(), {}));
    CHECK(values(network, network.update()) == values(same, same.update()));
    Tensor a, b;
    network.predict(data.features, a, &data.features_mask);
    network.predict(other.features, b, &data.features_mask);
    if (each) CHECK(a.shape() == Shape{5, 5, 3});
    CHECK(std::equal(a.as<float>().begin(), a.as<float>().end(),
                     b.as<float>().begin()));
    // A sequence of full length, the last one, needs no mask.
    network.predict(data.features, b);
    const auto rows = static_cast<std::ptrdiff_t>(a.elements() / 5 * 4);
    CHECK(std::equal(a.as<float>().begin() + rows, a.as<float>().end(),
                     b.as<float>().begin() + rows));
  }
}

TEST_CASE("cpu and lanes agree with the reference over sequences") {
  const NetworkConfig config = sequence("[6, 3]",
                                        R"(
      {"type": "lstm", "units": 5, "return_sequences": true,
       "bidirectional": "concat"},
      {"type": "dropout", "rate": 0.3},
      {"type": "gru", "units": 4, "return_sequences": true},
      {"type": "simple_rnn", "units": 4, "return_sequences": true}, )" +
                                            kSoftmax,
                                        R"(, "tbptt_length": 3,
      "updater": {"type": "nesterov", "learning_rate": 0.05})");
  Examples data = random_examples(config, 7);
  data.features_mask = lengths_mask(7, 6);
  const auto run = [&](const char* device, int lanes) {
    Network network = compile(config, 7, device, lanes);
    for (int i = 0; i < 5; ++i) testing::train(network, data.batch(), i);
    return values(network, network.parameters());
  };
  const auto want = run("reference", 1);
  CHECK(distance(run("reference", 3), want) < 1e-12);
  CHECK(distance(run("cpu", 1), want) < 1e-5);
  CHECK(distance(run("cpu", 2), want) < 1e-5);
}

TEST_CASE("the mask of the features weighs the steps unless labels have one") {
  const NetworkConfig config = sequence("[4, 2]", kEach);
  Network network = compile(config, 4, "reference", 2);
  Examples data = random_examples(config, 4);
  data.features_mask = lengths_mask(4, 4);
  const double implied = network.compute_gradient(data.batch(), {});
  data.mask = data.features_mask;
  CHECK(network.compute_gradient(data.batch(), {}) == implied);
  // One weight an example counts for all of its steps but the padding.
  data.mask = Tensor(DType::kF32, {4});
  for (float& weight : data.mask.as<float>()) weight = 2;
  const double twice = network.compute_gradient(data.batch(), {});
  CHECK(twice == Approx(2 * implied));
  // One of each step stands for itself.
  data.mask = Tensor(DType::kF32, {4, 4});
  for (float& weight : data.mask.as<float>()) weight = 2;
  CHECK(network.compute_gradient(data.batch(), {}) > twice);
}

TEST_CASE("class numbers and one-hot rows of steps are the same labels") {
  const NetworkConfig config = sequence("[4, 2]", kEach);
  Network network = compile(config, 3);
  Examples data = random_examples(config, 3);
  const double loss = network.compute_gradient(data.batch(), {});
  const Tensor classes = data.labels;
  data.labels = Tensor(DType::kF32, {3, 4, 3});
  for (std::int64_t i = 0; i < 12; ++i)
    data.labels.as<float>()[static_cast<std::size_t>(
        3 * i + static_cast<std::int64_t>(classes.value(i)))] = 1;
  CHECK(network.compute_gradient(data.batch(), {}) == loss);
}

TEST_CASE("sequences that do not fit are refused") {
  const NetworkConfig config = sequence("[4, 2]", kEach);
  Network network = compile(config, 3);
  const Examples data = random_examples(config, 3);
  const auto refused = [&](const Examples& wrong, const std::string& what) {
    CHECK_THROWS_MATCHES(network.compute_gradient(wrong.batch(), {}), Error,
                         Message(what));
  };
  Examples wrong = data;
  wrong.labels = Tensor(DType::kI32, {3});
  refused(wrong,
          "labels are I32 [], the network wants class numbers [4] or [4, 3]");
  wrong.labels = Tensor(DType::kF32, {3, 3});
  refused(wrong,
          "labels are F32 [3], the network wants class numbers [4] or [4, 3]");
  wrong.labels = data.labels;
  wrong.labels.as<std::int32_t>()[5] = 3;
  refused(wrong, "example 1 has label 3, the network knows 0..2");
  wrong = data;
  wrong.features_mask = Tensor(DType::kU8, {3, 5});
  refused(wrong, "the features' mask is [5] an example, the network wants [4]");
  wrong.features_mask = Tensor(DType::kU8, {2, 4});
  refused(wrong, "3 examples have a features' mask of [2, 4]");
  wrong = data;
  wrong.mask = Tensor(DType::kF32, {3, 3});
  refused(wrong, "3 examples have a mask of [3, 3]");

  data::Metadata metadata;
  metadata.schema["features"] = {DType::kF32, {4, 2}};
  metadata.schema["labels"] = {DType::kI32, {4}};
  metadata.schema["features_mask"] = {DType::kU8, {4}};
  network.check_data(metadata);
  metadata.schema["features_mask"] = {DType::kU8, {}};
  CHECK_THROWS_AS(network.check_data(metadata), Error);
}

TEST_CASE("a weight of each example does not make padding count") {
  const NetworkConfig config = sequence("[4, 2]", R"(
      {"type": "gru", "units": 3, "return_sequences": true},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})");
  Examples data = random_examples(config, 5);
  data.features_mask = testing::lengths_mask(5, 4);
  Examples weighted = data, by_step = data;
  weighted.mask = Tensor(DType::kF32, {5});
  by_step.mask = Tensor(DType::kF32, {5, 4});
  for (std::int64_t i = 0; i < 20; ++i) {
    const auto weight = static_cast<float>(i / 4) / 2;
    weighted.mask.as<float>()[static_cast<std::size_t>(i / 4)] = weight;
    by_step.mask.as<float>()[static_cast<std::size_t>(i)] =
        weight * static_cast<float>(data.features_mask.value(i));
  }
  for (const int lanes : {1, 3}) {
    Network a = compile(config, 5, "reference", lanes);
    Network b = compile(config, 5, "reference", lanes);
    CHECK(a.compute_gradient(weighted.batch(), {}) ==
          Approx(b.compute_gradient(by_step.batch(), {})));
    CHECK(testing::distance(testing::values(a, a.update()),
                            testing::values(b, b.update())) < 1e-12);
  }
  // And in evaluation.
  Network network = compile(config, 5);
  std::vector<Prediction> said;
  network.predict(data.batch().inputs, said);
  const Tensor* own = said[0].mask();
  REQUIRE(own != nullptr);
  Tensor product;
  const Tensor* weights = data::mask_of_steps(&weighted.mask, own, product);
  REQUIRE(weights != nullptr);
  REQUIRE(weights->shape() == Shape{5, 4});
  for (std::int64_t i = 0; i < 20; ++i)
    CHECK(weights->value(i) == by_step.mask.value(i));
  CHECK(data::mask_of_steps(&by_step.mask, own, product) == &by_step.mask);
  CHECK(data::mask_of_steps(nullptr, own, product) == own);
}

TEST_CASE("an LSTM learns to remember the first of many steps") {
  const NetworkConfig config = sequence("[12, 1]", R"(
      {"type": "lstm", "units": 8},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"})",
                                        R"(,
      "updater": {"type": "adam", "learning_rate": 0.02})");
  Network network = compile(config, 32, "cpu");
  double loss = 0;
  for (int i = 0; i < 150; ++i) {
    Examples data = random_examples(config, 32, static_cast<std::uint64_t>(i));
    for (std::size_t e = 0; e < 32; ++e)
      data.labels.as<std::int32_t>()[e] =
          data.features.as<double>()[12 * e] > 0;
    loss = testing::train(network, data.batch(), i);
  }
  CHECK(loss < 0.25);
}

}  // namespace
}  // namespace dl::nn::recurrent_test
