// Networks as a whole: lanes, statistics, dropout, prediction, checks.

#include "libcore/nn/network.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/error.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::network_test {
namespace {

using Catch::Matchers::Message;
using testing::compile;
using testing::distance;
using testing::Examples;
using testing::random_examples;
using testing::sequence;
using testing::values;

const std::string kSoftmax =
    R"({"type": "output", "units": 3, "loss": "negative_log_likelihood"})";
// Everything that looks at more than one example, or at random numbers.
const std::string kMixed =
    R"({"type": "conv2d", "filters": 4, "kernel": [2, 2]},
       {"type": "batch_norm"}, {"type": "activation", "activation": "relu"},
       {"type": "max_pool2d"}, {"type": "dropout", "rate": 0.3},
       {"type": "dense", "units": 6, "activation": "tanh"},
       {"type": "batch_norm"}, )" +
    kSoftmax;
const std::string kAdam = R"(, "updater": {"type": "adam"})";

std::int64_t parameters_of(const NetworkConfig& config) {
  std::int64_t sum = 0;
  for (const Segment& s : layout_of(config).parameters) sum += s.elements();
  return sum;
}

TEST_CASE("the reference networks have the parameters they should have") {
  CHECK(parameters_of(testing::example_network("lenet.json")) == 67780);
  CHECK(parameters_of(testing::example_network("cifar10.json")) == 18804810);
}

// Parameters, statistics and losses after some steps.
struct Outcome {
  std::vector<double> parameters, statistics, losses;
};
Outcome run(const NetworkConfig& config, const std::string& device, int lanes,
            int steps = 5, std::int64_t n = 7) {
  Network network = compile(config, n, device, lanes);
  Outcome outcome;
  for (int i = 0; i < steps; ++i) {
    const Examples data =
        random_examples(config, n - i % 2, static_cast<std::uint64_t>(i));
    outcome.losses.push_back(testing::train(network, data.batch(), i));
  }
  outcome.parameters = values(network, network.parameters());
  if (network.statistics().elements() > 0)
    outcome.statistics = values(network, network.statistics());
  return outcome;
}

TEST_CASE("lanes agree with one lane and repeat themselves to the bit") {
  const NetworkConfig config = sequence("[6, 6, 2]", kMixed, kAdam);
  const Outcome one = run(config, "reference", 1);
  for (const int lanes : {1, 2, 3, 9}) {
    const Outcome many = run(config, "reference", lanes);
    INFO(lanes << " lanes");
    CHECK(distance(many.parameters, one.parameters) <= 1e-9);
    CHECK(distance(many.statistics, one.statistics) <= 1e-12);
    CHECK(distance(many.losses, one.losses) <= 1e-10);
    const Outcome again = run(config, "reference", lanes);
    CHECK(again.parameters == many.parameters);
    CHECK(again.statistics == many.statistics);
    CHECK(again.losses == many.losses);
  }
}

TEST_CASE("cpu agrees with the reference over training steps") {
  const std::string layers = GENERATE(
      as<std::string>{}, kMixed,
      R"({"type": "conv2d", "filters": 5, "kernel": [3, 2], "stride": [2, 1],
          "padding": "same", "activation": "gelu"},
         {"type": "average_pool2d", "kernel": [2, 2], "padding": "same"},
         {"type": "flatten"},
         {"type": "dense", "units": 9, "activation": "softplus"},
         {"type": "output", "units": 4, "activation": "sigmoid",
          "loss": "binary_cross_entropy"})",
      R"({"type": "conv2d", "filters": 3, "kernel": [2, 2], "dilation": [2, 3],
          "activation": "elu"},
         {"type": "dense", "units": 9, "activation": "leaky_relu"},
         {"type": "output", "units": 4, "activation": "identity",
          "loss": "mean_squared_error"})");
  const std::string updater =
      GENERATE(as<std::string>{}, "sgd", "nesterov", "adagrad", "rmsprop");
  const NetworkConfig config = sequence(
      "[6, 6, 2]", layers,
      R"(, "updater": {"type": ")" + updater + R"(", "learning_rate": 0.01},
         "regularization": {"l1": 1e-3, "l2": 1e-2},
         "gradient_normalization": "clip_l2_per_layer")");
  const Outcome want = run(config, "reference", 1);
  for (const int lanes : {1, 2, 3}) {
    INFO(layers << "\n" << updater << ", " << lanes << " lanes");
    const Outcome got = run(config, "cpu", lanes);
    CHECK(distance(got.parameters, want.parameters) <= 2e-4);
    CHECK(distance(got.statistics, want.statistics) <= 1e-4);
    CHECK(distance(got.losses, want.losses) <= 1e-4);
    CHECK(run(config, "cpu", lanes).parameters == got.parameters);
  }
}

TEST_CASE("running statistics start at 0 and 1 and follow the batch") {
  const NetworkConfig config =
      sequence("[2]", R"({"type": "batch_norm", "decay": 0.75}, )" + kSoftmax);
  Network network = compile(config, 4, "reference", 2);
  CHECK(values(network, network.statistics()) ==
        std::vector<double>{0, 0, 1, 1});
  Examples data = random_examples(config, 4);
  const double columns[] = {1, 10, 2, 10, 3, 10, 6, 14};
  std::copy(std::begin(columns), std::end(columns),
            data.features.as<double>().begin());
  network.compute_gradient(data.batch(), {});
  // Means 3 and 11; variances of the population 14 / 4 and 12 / 4.
  CHECK(distance(values(network, network.statistics()),
                 {0.75, 2.75, 0.75 + 0.25 * 3.5, 0.75 + 0.25 * 3}) <= 1e-12);

  // With two workers, each moves them for both.
  Network one_of_two = compile(config, 4, "reference", 2);
  Position at;
  at.concurrent_replicas = 2;
  one_of_two.compute_gradient(data.batch(), at);
  const double keeps = 0.75 * 0.75, takes = 1 - keeps;
  CHECK(distance(values(one_of_two, one_of_two.statistics()),
                 {takes * 3, takes * 11, keeps + takes * 3.5,
                  keeps + takes * 3}) <= 1e-12);
}

TEST_CASE("prediction uses the running statistics and no dropout") {
  const NetworkConfig config = sequence("[2]", R"({"type": "batch_norm"},
      {"type": "dropout", "rate": 0.9}, {"type": "output", "units": 1,
       "activation": "identity", "loss": "mean_squared_error"})",
                                        R"(, "weight_init":
      {"type": "constant", "value": 1})");
  const bool training = GENERATE(true, false);
  Network network = compile(config, 3, "reference", 1, training);
  network.initialise();
  testing::assign(network, network.statistics(), {1, 2, 4, 9});
  Examples data = random_examples(config, 1);
  data.features.as<double>()[0] = 5;
  data.features.as<double>()[1] = 8;
  CHECK(testing::predict(network, data.features)[0] ==
        Approx(4 / 2.0 + 6 / 3.0).epsilon(1e-4));
}

TEST_CASE("predictions do not depend on lanes, chunks or what they are for") {
  const NetworkConfig config = sequence("[6, 6, 2]", kMixed, kAdam);
  Network trained = compile(config, 20);
  const Examples data = random_examples(config, 20);
  for (int i = 0; i < 3; ++i) testing::train(trained, data.batch(), i);
  const auto want = testing::predict(trained, data.features);
  REQUIRE(want.size() == 60);
  for (std::size_t i = 0; i < 60; i += 3)
    CHECK(want[i] + want[i + 1] + want[i + 2] == Approx(1));
  for (const int lanes : {1, 2, 3})
    for (const std::int64_t most : {1, 3, 20, 64}) {
      Network network = compile(config, most, "reference", lanes, false);
      testing::assign(network, network.parameters(),
                      values(trained, trained.parameters()));
      testing::assign(network, network.statistics(),
                      values(trained, trained.statistics()));
      INFO(lanes << " lanes, " << most << " at once");
      CHECK(distance(testing::predict(network, data.features), want) <= 1e-7);
    }
}

TEST_CASE("an output follows from its example alone, to the bit") {
  const auto networks = {testing::example_network("lenet.json"),
                         sequence("[6, 6, 2]", kMixed, kAdam),
                         testing::example_network("digits.json"),
                         sequence("[6, 6, 4]", R"(
      {"type": "conv2d_transpose", "filters": 6, "kernel": [3, 3],
       "stride": [2, 2], "activation": "relu"},
      {"type": "depthwise_conv2d", "kernel": [3, 3]},
      {"type": "separable_conv2d", "filters": 8, "kernel": [2, 2]},
      {"type": "group_norm", "groups": 2}, {"type": "batch_norm"},
      {"type": "local_response_norm"}, {"type": "upsample2d"},
      {"type": "pnorm_pool2d"}, {"type": "global_pool"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})"),
                         sequence("[9, 4]", R"(
      {"type": "conv1d", "filters": 6, "kernel": 3},
      {"type": "multi_head_attention", "heads": 2, "head_size": 3},
      {"type": "layer_norm"},
      {"type": "lstm", "units": 5, "return_sequences": true},
      {"type": "dense", "units": 7, "time_distributed": true},
      {"type": "last_step"}, {"type": "prelu"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})")};
  for (const NetworkConfig& config : networks) {
    const Examples data = random_examples(config, 70);
    Network one = compile(config, 1, "cpu", 1, false);
    one.initialise();
    one.freeze();
    const auto want = testing::predict(one, data.features);
    const auto units = static_cast<std::ptrdiff_t>(one.output().elements());
    for (const int lanes : {1, 2, 3, 4})
      for (const std::int64_t most : {7, 64}) {
        Network network = compile(config, most, "cpu", lanes, false);
        network.initialise();
        network.freeze();
        for (const std::int64_t first : {0, 5, 69})
          for (const std::int64_t n : {1, 2, 7, 33, 64}) {
            const std::int64_t end = std::min<std::int64_t>(70, first + n);
            INFO(lanes << " lanes, examples " << first << " to " << end);
            CHECK(testing::predict(network, data.features.rows(first, end)) ==
                  std::vector<double>(want.begin() + first * units,
                                      want.begin() + end * units));
          }
      }
  }
}

TEST_CASE("dropout drops its share, by mini-batch and place of the example") {
  const NetworkConfig config = sequence("[1000]", R"(
      {"type": "dropout", "rate": 0.25}, {"type": "output", "units": 1,
       "activation": "identity", "loss": "mean_absolute_error",
       "bias": false})",
                                        R"(, "weight_init":
      {"type": "constant", "value": 1})");
  Examples data = random_examples(config, 1);
  for (double& x : data.features.as<double>()) x = 1;
  data.labels.as<double>()[0] = 0;
  Network network = compile(config, 2);
  // The loss is the sum of what is kept, times 4 / 3.
  const double kept = network.compute_gradient(data.batch(), {0, 0, 1}) * 0.75;
  CHECK(kept == Approx(std::round(kept)));
  CHECK(std::abs(kept - 750) < 50);
  CHECK(network.compute_gradient(data.batch(), {9, 3, 1}) * 0.75 ==
        Approx(kept));
  const auto first = values(network, network.update());
  network.compute_gradient(data.batch(), {0, 0, 2});
  CHECK(values(network, network.update()) != first);
}

TEST_CASE("a mask weighs examples") {
  const NetworkConfig config = sequence(
      "[4]",
      R"({"type": "dense", "units": 3, "activation": "tanh"}, )" + kSoftmax);
  Examples data = random_examples(config, 6);
  Network network = compile(config, 6, "reference", 2);
  data.mask = tensor::Tensor(tensor::DType::kU8, {6});
  for (const std::size_t i : {0u, 2u, 5u}) data.mask.as<std::uint8_t>()[i] = 1;
  const double masked = network.compute_gradient(data.batch(), {});
  const auto gradient = values(network, network.update());
  // The same as the three alone, but over six.
  Examples three = data;
  three.mask = {};
  three.features.resize(tensor::DType::kF64, {3, 4});
  three.labels.resize(tensor::DType::kI32, {3});
  std::size_t to = 0;
  for (const std::size_t i : {0u, 2u, 5u}) {
    for (std::size_t c = 0; c < 4; ++c)
      three.features.as<double>()[4 * to + c] =
          data.features.as<double>()[4 * i + c];
    three.labels.as<std::int32_t>()[to++] = data.labels.as<std::int32_t>()[i];
  }
  CHECK(network.compute_gradient(three.batch(), {}) / 2 == Approx(masked));
  auto half = values(network, network.update());
  for (double& g : half) g /= 2;
  CHECK(distance(half, gradient) <= 1e-12);
}

TEST_CASE("class numbers and one-hot rows are the same labels") {
  const NetworkConfig config = sequence("[4]", kSoftmax);
  Network network = compile(config, 5, "reference", 2);
  Examples data = random_examples(config, 5);
  const double loss = network.compute_gradient(data.batch(), {});
  const tensor::Tensor classes = data.labels;
  data.labels = tensor::Tensor(tensor::DType::kF32, {5, 3});
  for (std::int64_t i = 0; i < 5; ++i)
    data.labels.as<float>()[static_cast<std::size_t>(
        3 * i + static_cast<std::int64_t>(classes.value(i)))] = 1;
  CHECK(network.compute_gradient(data.batch(), {}) == loss);
  data.labels = classes;
  data.labels.reshape({5, 1});
  CHECK(network.compute_gradient(data.batch(), {}) == loss);
}

TEST_CASE("features are normalized by the columns they were gathered by") {
  const NetworkConfig config = sequence("[2, 1, 2]", kSoftmax);
  Examples plain = random_examples(config, 3), raw = plain;
  const auto loss_with = [&](const data::Normalizer& normalizer,
                             const Examples& data) {
    Network network = compile(config, 3, "reference", 2, true, normalizer);
    return network.compute_gradient(data.batch(), {});
  };
  const double want = loss_with({}, plain);
  const auto store = [&](const std::vector<double>& shift, double scale) {
    for (std::size_t i = 0; i < 12; ++i)
      raw.features.as<double>()[i] =
          plain.features.as<double>()[i] / scale + shift[i % shift.size()];
  };
  store({5}, 0.5);
  CHECK(loss_with({"scale", {5}, {0.5}}, raw) == Approx(want));
  store({5, -3}, 1);
  CHECK(loss_with({"standardize", {5, -3}, {1, 1}}, raw) == Approx(want));
  raw.features.reshape({3, 4});  // flat rows of an image's columns
  CHECK(loss_with({"standardize", {5, -3}, {1, 1}}, raw) == Approx(want));
  store({5, -3, 2, 1}, 1);  // columns of flat rows
  CHECK(loss_with({"standardize", {5, -3, 2, 1}, {1, 1, 1, 1}}, raw) ==
        Approx(want));
  CHECK_THROWS_MATCHES(
      loss_with({"standardize", {1, 2, 3}, {1, 1, 1}}, raw), Error,
      Message("the normalizer has 3 columns, the examples are [2, 1, 2]"));
}

TEST_CASE("labels out of range are refused with their example") {
  const NetworkConfig config = sequence("[4]", kSoftmax);
  Network network = compile(config, 5, "reference", 2);
  Examples data = random_examples(config, 5);
  data.labels.as<std::int32_t>()[3] = GENERATE(3, -1);
  CHECK_THROWS_MATCHES(
      network.compute_gradient(data.batch(), {}), Error,
      Message("example 3 has label " +
              std::to_string(data.labels.as<std::int32_t>()[3]) +
              ", the network knows 0..2"));
  data.labels.as<std::int32_t>()[3] = 0;  // and it goes on
  CHECK(network.compute_gradient(data.batch(), {}) > 0);
}

TEST_CASE("batches that do not fit are refused") {
  const NetworkConfig config = sequence("[4]", kSoftmax);
  Network network = compile(config, 5);
  Examples data = random_examples(config, 5);
  Examples wrong = data;
  wrong.labels = tensor::Tensor(tensor::DType::kI32, {4});
  CHECK_THROWS_MATCHES(network.compute_gradient(wrong.batch(), {}), Error,
                       Message("5 examples have 4 labels"));
  wrong.labels = tensor::Tensor(tensor::DType::kF32, {5, 2});
  CHECK_THROWS_MATCHES(
      network.compute_gradient(wrong.batch(), {}), Error,
      Message("labels are F32 [2], the network wants class numbers or [3]"));
  wrong = data;
  wrong.features = tensor::Tensor(tensor::DType::kF32, {5, 3});
  CHECK_THROWS_MATCHES(network.compute_gradient(wrong.batch(), {}), Error,
                       Message("examples are [3], the network wants [4]"));
  wrong = data;
  wrong.labels = {};
  CHECK_THROWS_MATCHES(network.compute_gradient(wrong.batch(), {}), Error,
                       Message("labels are missing"));
  wrong = data;
  wrong.mask = tensor::Tensor(tensor::DType::kF32, {5, 2});
  CHECK_THROWS_AS(network.compute_gradient(wrong.batch(), {}), Error);
}

TEST_CASE("data is checked by what its metadata says") {
  const NetworkConfig config = sequence("[4, 4, 2]", kSoftmax);
  const Network network = compile(config, 5);
  data::Metadata data;
  data.schema["features"] = {tensor::DType::kU8, {4, 4, 2}};
  CHECK_THROWS_MATCHES(network.check_data(data), Error,
                       Message("the data have no tensor 'labels'"));
  compile(config, 5, "reference", 1, false).check_data(data);
  data.schema["labels"] = {tensor::DType::kU8, {}};
  network.check_data(data);
  data.schema["features"].shape = {32};
  network.check_data(data);
  data.schema["features"].shape = {2, 4, 4};
  CHECK_THROWS_MATCHES(
      network.check_data(data), Error,
      Message("examples are [2, 4, 4], the network wants [4, 4, 2]"));
  data.schema["features"].shape = {4, 4, 2};
  data.classes = {"a", "b", "c", "d"};
  CHECK_THROWS_MATCHES(network.check_data(data), Error,
                       Message("the data have 4 classes, the network 3"));
  const Network single =
      compile(parse_network(R"({"seed": 1, "input": {"shape": [2]}, "layers": [
          {"type": "output", "units": 1, "activation": "identity",
           "loss": "mean_squared_error"}]})",
                            "'test.json'"),
              5);
  data::Metadata numbers = data;
  numbers.schema["features"].shape = {2};
  CHECK_THROWS_MATCHES(
      single.check_data(numbers), Error,
      Message("the data have 4 classes, the network's single output tells two; "
              "for numbers to be predicted, prepare them with --regression"));
  data.classes.clear();
  data.schema["labels"] = {tensor::DType::kF32, {2}};
  CHECK_THROWS_MATCHES(network.check_data(data), Error,
                       Message("labels are F32 [2], the network wants class "
                               "numbers or [3]"));
}

TEST_CASE("what is not finite is seen: loss, gradient, update, parameters") {
  const NetworkConfig config = sequence("[4]", kSoftmax, kAdam);
  const int lanes = GENERATE(1, 2);
  Network network = compile(config, 5, "reference", lanes);
  Examples data = random_examples(config, 5);
  network.compute_gradient(data.batch(), {});
  CHECK(network.gradient_is_finite());
  CHECK(network.compute_update({}));
  network.compute_gradient(data.batch(), {});
  CHECK(network.apply_update({}));
  data.features.as<double>()[13] = std::nan("");
  CHECK(std::isnan(network.compute_gradient(data.batch(), {})));
  CHECK_FALSE(network.gradient_is_finite());
  CHECK_FALSE(network.compute_update({}));
  network.compute_gradient(data.batch(), {});
  CHECK_FALSE(network.apply_update({}));
}

TEST_CASE("a step in one go is its parts, and writes nothing after a fault") {
  const NetworkConfig config = sequence("[4]", kSoftmax, kAdam);
  const int lanes = GENERATE(1, 2);
  const std::string device = GENERATE("reference", "cpu");
  Network parts = compile(config, 5, device, lanes),
          whole = compile(config, 5, device, lanes);
  Examples data = random_examples(config, 5);
  const auto step = [&](double most_loss) {
    return whole.step(data.batch(), {}, 0, device::UpdateTo::kParameters, {},
                      most_loss);
  };
  const double loss = parts.compute_gradient(data.batch(), {});
  CHECK(parts.apply_update({}));
  const Network::StepResult found = step(2 * loss);
  CHECK(found.loss == loss);
  CHECK(found.gradient_finite);
  CHECK(found.update_finite);
  CHECK(values(whole, whole.parameters()) == values(parts, parts.parameters()));
  CHECK(values(whole, whole.updater_state()) ==
        values(parts, parts.updater_state()));

  const Network::StepResult above = step(loss / 1000);
  CHECK(above.loss == parts.compute_gradient(data.batch(), {}));
  CHECK_FALSE(above.gradient_finite);
  CHECK_FALSE(above.update_finite);
  data.features.as<double>()[13] = std::nan("");
  CHECK(std::isnan(step(2 * loss).loss));
  CHECK(values(whole, whole.parameters()) == values(parts, parts.parameters()));
  CHECK(values(whole, whole.updater_state()) ==
        values(parts, parts.updater_state()));
}

TEST_CASE("only a training network holds gradients") {
  const NetworkConfig config = sequence("[6, 6, 2]", kMixed, kAdam);
  Network training = compile(config, 8),
          other = compile(config, 8, "reference", 1, false);
  CHECK(other.memory_bytes() < training.memory_bytes() / 2);
  CHECK(other.updater_state().elements() == 0);
  CHECK(other.update().elements() == 0);
  CHECK(compile(config, 8, "reference", 2).memory_bytes() >
        training.memory_bytes());
  CHECK_THROWS_AS(other.compute_update({}), Error);
}

TEST_CASE("new parameters follow from the seed") {
  NetworkConfig config = sequence("[6, 6, 2]", kMixed, kAdam);
  Network a = compile(config, 8), b = compile(config, 8, "reference", 2);
  const auto start = values(a, a.parameters());
  CHECK(values(b, b.parameters()) == start);
  const Examples data = random_examples(config, 8);
  testing::train(a, data.batch(), 0);
  CHECK(values(a, a.parameters()) != start);
  a.initialise();
  CHECK(values(a, a.parameters()) == start);
  config.seed = 8;
  Network c = compile(config, 8);
  CHECK(values(c, c.parameters()) != start);
}

}  // namespace
}  // namespace dl::nn::network_test
