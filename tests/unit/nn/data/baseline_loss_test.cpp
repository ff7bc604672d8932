// Losses of predictions that are the same for every example.

#include "libcore/nn/data/baseline_loss.h"

#include <catch2/catch.hpp>
#include <cmath>
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
  return best_constant(network, data, [&](const auto& take) {
    data::DataSet set;
    tensor::Tensor& labels = set.tensors["labels"];
    labels = tensor::Tensor(tensor::DType::kI32, {10});
    for (const std::size_t i : {7, 8}) labels.as<std::int32_t>()[i] = 1;
    labels.as<std::int32_t>()[9] = classes - 1;
    take(set);
  });
}

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
  CHECK(best->error > 0);
  CHECK(constant(sigmoid(), tensor::DType::kI32, 2)->loss ==
        Approx(entropy({0.7, 0.3})));
  CHECK_FALSE(constant(softmax(), tensor::DType::kF32));  // no classes
  CHECK_FALSE(constant(testing::sequence(
      "[2]",
      R"({"type": "output", "units": 3, "loss": "mean_squared_error"})")));
}

TEST_CASE("a constant prediction takes weights and smoothing into account") {
  // 7, 4 and 10 of 21 by weight, of which a label counts 2.1.
  const auto weighted = constant(softmax(R"(, "class_weights": [1, 2, 10])"));
  CHECK(weighted->loss ==
        Approx(2.1 * entropy({7 / 21.0, 4 / 21.0, 10 / 21.0})));
  CHECK(weighted->accuracy == Approx(0.1));
  CHECK(
      constant(sigmoid(R"(, "class_weights": [3, 7])"), tensor::DType::kI32, 2)
          ->loss == Approx(4.2 * std::log(2.0)));
  CHECK(constant(softmax(R"(, "label_smoothing": 0.3)"))->loss ==
        Approx(entropy({0.59, 0.24, 0.17})));
  CHECK(constant(softmax(R"(, "loss_weight": 10)"))->loss ==
        Approx(10 * entropy({0.7, 0.2, 0.1})));
}

TEST_CASE("the loss of chance counts as the network's loss does") {
  const auto chance = [](const NetworkConfig& network) {
    return loss_of_chance(network, {3}, {});
  };
  CHECK(chance(softmax()).value() == Approx(std::log(3.0)));
  CHECK(chance(softmax(R"(, "loss_weight": 10)")).value() ==
        Approx(10 * std::log(3.0)));
  CHECK_FALSE(chance(softmax(R"(, "loss_weight": 0)")));
}

}  // namespace dl::nn::chance_test
