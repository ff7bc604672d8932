// Losses of predictions that are the same for every example.

#include "libcore/nn/data/baseline_loss.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/nn/support.h"

namespace dl::nn::chance_test {
namespace {

NetworkConfig softmax(const std::string& settings = "") {
  return testing::sequence(
      "[2]",
      R"({"type": "output", "units": 3, "loss": "negative_log_likelihood")" +
          settings + "}");
}

NetworkConfig sigmoid(const std::string& settings = "") {
  return testing::sequence("[2]",
                           R"({"type": "output", "units": 1, "activation":
                              "sigmoid", "loss": "binary_cross_entropy")" +
                               settings + "}");
}

// Ten labels: seven of class 0, two of class 1, one of class 2; or of two
// classes seven and three.
std::optional<BestConstant> constant(const NetworkConfig& network,
                                     tensor::DType dtype = tensor::DType::kI32,
                                     int classes = 3) {
  data::Metadata data;
  data.schema["features"] = {tensor::DType::kF32, {2}};
  data.schema["labels"] = {dtype, {}};
  return best_constant(network, data, {}, [&](const auto& take) {
    data::DataSet set;
    tensor::Tensor& labels = set.tensors["labels"];
    labels = tensor::Tensor(tensor::DType::kI32, {10});
    for (const std::size_t i : {7, 8}) labels.as<std::int32_t>()[i] = 1;
    labels.as<std::int32_t>()[9] = classes - 1;
    take(set);
  });
}

const std::string kSteps =
    R"({"type": "lstm", "units": 2, "return_sequences": true}, )";

double entropy(const std::vector<double>& shares) {
  double sum = 0;
  for (const double p : shares) sum -= p * std::log(p);
  return sum;
}

}  // namespace

TEST_CASE("the best constant prediction has the shares of the classes") {
  const auto best = constant(softmax());
  REQUIRE(best);
  CHECK(best->loss == Approx(entropy({0.7, 0.2, 0.1})));
  CHECK(best->accuracy == Approx(0.7));
  CHECK(best->log_loss == Approx(entropy({0.7, 0.2, 0.1})));
  CHECK(best->error > 0);
  CHECK(constant(sigmoid(), tensor::DType::kI32, 2)->loss ==
        Approx(entropy({0.7, 0.3})));
  CHECK_FALSE(constant(testing::sequence(
      "[2]", R"({"type": "output", "units": 3, "loss": "hinge"})")));
}

TEST_CASE("a constant prediction takes weights and smoothing into account") {
  // 7, 4 and 10 of 21 by weight, of which a label counts 2.1.
  const auto weighted = constant(softmax(R"(, "class_weights": [1, 2, 10])"));
  CHECK(weighted->loss ==
        Approx(2.1 * entropy({7 / 21.0, 4 / 21.0, 10 / 21.0})));
  CHECK(weighted->accuracy == Approx(0.1));
  CHECK_FALSE(weighted->log_loss);
  CHECK(
      constant(sigmoid(R"(, "class_weights": [3, 7])"), tensor::DType::kI32, 2)
          ->loss == Approx(4.2 * std::log(2.0)));
  CHECK(constant(softmax(R"(, "label_smoothing": 0.3)"))->loss ==
        Approx(entropy({0.59, 0.24, 0.17})));
  const auto ten = constant(softmax(R"(, "loss_weight": 10)"));
  CHECK(ten->loss == Approx(10 * entropy({0.7, 0.2, 0.1})));
  CHECK(ten->log_loss == Approx(entropy({0.7, 0.2, 0.1})));
}

TEST_CASE("the loss of chance counts as the network's loss does") {
  const auto chance = [](const NetworkConfig& network) {
    return loss_of_chance(network, {});
  };
  CHECK(chance(softmax()).value() == Approx(std::log(3.0)));
  CHECK(chance(softmax(R"(, "loss_weight": 10)")).value() ==
        Approx(10 * std::log(3.0)));
  CHECK_FALSE(chance(softmax(R"(, "loss_weight": 0)")));
}

TEST_CASE("every step, pixel and output has a share in the loss of chance") {
  const std::string out =
      R"({"type": "output", "units": 3, "loss": "negative_log_likelihood")";
  const auto chance = [](const NetworkConfig& network) {
    return loss_of_chance(network, {});
  };
  const auto steps = [&](const std::string& settings) {
    return testing::sequence("[5, 2]", kSteps + out + settings + "}");
  };
  CHECK(chance(steps("")).value() == Approx(5 * std::log(3.0)));
  CHECK(chance(steps(R"(, "mean_over": "steps")")).value() ==
        Approx(std::log(3.0)));
  const NetworkConfig two = parse_network(
      R"({"inputs": [{"name": "x", "shape": [2]}], "nodes": [
          {"name": "a", "type": "output", "from": "x", "units": 3,
           "loss": "negative_log_likelihood"},
          {"name": "b", "type": "output", "from": "x", "units": 1,
           "loss": "mean_squared_error", "loss_weight": 0.5}],
          "outputs": ["a", "b"]})",
      "'net'");
  CHECK_FALSE(chance(two));  // of b nothing is known
  data::Normalizers targets;
  targets.outputs = {{}, {"standardize", {4}, {2}}};
  CHECK(loss_of_chance(two, targets).value() == Approx(std::log(3.0) + 0.5));
  CHECK(accuracy_of_chance(two, "a:accuracy") == Approx(1 / 3.0));
  CHECK(accuracy_of_chance(two, "b:rmse") == 0);
  CHECK(accuracy_of_chance(sigmoid(), "accuracy") == 0.5);
}

namespace {

// Best constant of a record with these labels, features and mask.
std::optional<BestConstant> constant_of(const NetworkConfig& network,
                                        const data::DataSet& set,
                                        const data::Normalizers& normalizers) {
  data::Metadata data;
  data.schema = data::Metadata::schema_of(set);
  return best_constant(network, data, normalizers,
                       [&](const auto& take) { take(set); });
}

tensor::Tensor reals(const tensor::Shape& shape,
                     const std::vector<float>& values) {
  tensor::Tensor tensor(tensor::DType::kF32, shape);
  std::ranges::copy(values, tensor.as<float>().begin());
  return tensor;
}

}  // namespace

TEST_CASE("the best constant prediction of numbers is their mean") {
  data::DataSet set;
  set.tensors["features"] = reals({4, 2}, {0, 0, 0, 1, 1, 1, 1, 1});
  set.tensors["labels"] = reals({4, 1}, {1, 3, 5, 7});
  const std::string out = R"({"type": "output", "units": 1, "loss": )";
  const auto squares =
      testing::sequence("[2]", out + R"("mean_squared_error"})");
  CHECK(constant_of(squares, set, {})->loss == Approx(5));
  CHECK(constant_of(squares, set, {{}, {"standardize", {4}, {2}}})->loss ==
        Approx(20));
  CHECK_FALSE(constant_of(
      testing::sequence("[2]", out + R"("mean_absolute_error"})"), set, {}));
  // Several labels of yes and no.
  set.tensors["labels"] = reals({4, 2}, {0, 1, 0, 1, 0, 0, 1, 0});
  const auto several = constant_of(
      testing::sequence("[2]", R"({"type": "output", "units": 2, "loss":
                    "binary_cross_entropy"})"),
      set, {});
  CHECK(several->loss == Approx(entropy({0.25, 0.75}) + std::log(2.0)));
  CHECK_FALSE(several->accuracy);
  // An input is the target, normalized as training has it.
  const auto itself = testing::sequence(
      "[2]", R"({"type": "output", "units": 2, "loss": "mean_squared_error",
                "target": "features"})");
  set.tensors.erase("labels");
  CHECK(constant_of(itself, set, {{"minmax", {0}, {2}}})->loss ==
        Approx(4 * (0.25 + 0.1875) / 2));
  CHECK_FALSE(constant_of(itself, set, {{"pca", {0}, {1}, {1, 0, 0, 1}}}));
}

TEST_CASE("classes as one-hot values have a best constant prediction") {
  const auto squares = [](int units) {
    return testing::sequence(
        "[2]", R"({"type": "output", "loss": "mean_squared_error", "units": )" +
                   std::to_string(units) + "}");
  };
  // Variances of the shares 0.7, 0.2 and 0.1; of 0.3 alone.
  CHECK(constant(squares(3))->loss == Approx((0.21 + 0.16 + 0.09) / 3));
  CHECK(constant(squares(1), tensor::DType::kI32, 2)->loss == Approx(0.21));
}

TEST_CASE("padding has no part in the loss of a constant prediction") {
  const auto network = testing::sequence(
      "[3, 2]", kSteps + R"({"type": "output", "units": 2, "loss":
                   "negative_log_likelihood"})");
  data::DataSet set;
  set.tensors["features"] = tensor::Tensor(tensor::DType::kF32, {2, 3, 2});
  tensor::Tensor& labels = set.tensors["labels"];
  labels = tensor::Tensor(tensor::DType::kI32, {2, 3});
  std::ranges::copy(std::vector<int>{0, 1, 1, 0, 1, 1},
                    labels.as<std::int32_t>().begin());
  CHECK(constant_of(network, set, {})->loss ==
        Approx(3 * entropy({1 / 3.0, 2 / 3.0})));
  for (const char* mask : {"labels_mask", "features_mask"}) {
    INFO(mask);
    data::DataSet masked = set;
    tensor::Tensor& steps = masked.tensors[mask];
    steps = tensor::Tensor(tensor::DType::kU8, {2, 3});
    std::ranges::copy(std::vector<int>{1, 1, 0, 1, 1, 0},
                      steps.as<std::uint8_t>().begin());
    CHECK(constant_of(network, masked, {})->loss == Approx(2 * std::log(2.0)));
    data::Metadata data;
    data.schema = data::Metadata::schema_of(masked);
    const auto count =
        count_labels(network, data, [&](const auto& take) { take(masked); });
    CHECK(count->in_example == 2.0);
    CHECK(loss_of_chance(network, {}, count).value() ==
          Approx(2 * std::log(2.0)));
  }
  // Weights of examples: nobody knows.
  set.tensors["labels_mask"] = reals({2, 3}, {1, 1, 0.5, 1, 1, 1});
  CHECK_FALSE(constant_of(network, set, {}));
}

}  // namespace dl::nn::chance_test
