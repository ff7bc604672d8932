// Weights of classes by name, and balanced.

#include "libcore/nn/data/class_weights.h"

#include <catch2/catch.hpp>

#include "tests/unit/nn/support.h"

namespace dl::nn::class_weights_test {
namespace {

NetworkConfig network(const std::string& weights, int units = 3) {
  return testing::sequence(
      "[2]", R"({"type": "output", "units": )" + std::to_string(units) +
                 (units == 1 ? R"(, "activation": "sigmoid", "loss":
                    "binary_cross_entropy")"
                             : R"(, "loss": "negative_log_likelihood")") +
                 R"(, "class_weights": )" + weights + "}");
}

data::Metadata pets(std::vector<std::string> names) {
  data::Metadata data;
  data.classes = std::move(names);
  data.schema["features"] = {tensor::DType::kF32, {2}};
  data.schema["labels"] = {tensor::DType::kI32, {}};
  return data;
}

// Labels 0, 0, 0, 1 in two records.
void labels(const std::function<void(const data::DataSet& record)>& take) {
  for (const int last : {0, 1}) {
    data::DataSet set;
    tensor::Tensor& labels = set.tensors["labels"];
    labels = tensor::Tensor(tensor::DType::kI32, {2});
    labels.as<std::int32_t>()[1] = last;
    take(set);
  }
}

Json settled(const std::string& weights, int units = 3,
             const std::vector<std::string>& names = {"cat", "dog", "fox"}) {
  NetworkConfig config = network(weights, units);
  settle_class_weights(config, pets(names), labels);
  return config.layers[0].settings.at("class_weights");
}

std::string refusal(const std::string& weights, int units = 3,
                    const std::vector<std::string>& names = {"cat", "dog"}) {
  try {
    settled(weights, units, names);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kConfig);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("weights of classes by name") {
  CHECK(settled(R"({"dog": 2, "fox": 0.5})") == Json({1.0, 2.0, 0.5}));
  CHECK(settled("[3, 2, 1]") == Json({3, 2, 1}));
  CHECK(settled(R"({"yes": 4})", 1, {"no", "yes"}) == Json({1.0, 4.0}));
  CHECK(refusal(R"({"dgo": 2})") ==
        "layer 'output1': class_weights: the data have no class 'dgo'; did you "
        "mean 'dog'?");
  CHECK(refusal(R"({"elephant": 2})") ==
        "layer 'output1': class_weights: the data have no class 'elephant', "
        "but 2, from 'cat' to 'dog'");
  CHECK(refusal(R"({"dog": 2})", 3, {}) ==
        "layer 'output1': class_weights: the data have no names for classes; "
        "give an array");
}

TEST_CASE("balanced weights make classes count alike") {
  // A class that is not there takes no part.
  CHECK(settled("\"balanced\"") == Json({4 / 6.0, 2.0, 1.0}));
  CHECK(settled("\"balanced\"", 1, {"no", "yes"}) == Json({4 / 6.0, 2.0}));
  NetworkConfig config = network("\"balanced\"");
  data::Metadata data = pets({});
  data.schema["labels"] = {tensor::DType::kF32, {3}};
  CHECK_THROWS_WITH(settle_class_weights(config, data, labels),
                    "layer 'output1': class_weights: \"balanced\" is for "
                    "labels that are one class each");
}

TEST_CASE("what a label counts on average") {
  const auto mean = [](const std::string& weights, int units,
                       const data::Metadata& data = pets({})) {
    return mean_label_weight(network(weights, units), data, labels);
  };
  // Three labels of class 0, one of class 1.
  CHECK(mean("[1, 5, 9]", 3) == 2.0);
  CHECK(mean("[1, 5]", 1) == 2.0);
  CHECK_FALSE(mean("\"balanced\"", 3));
  data::Metadata several = pets({});
  several.schema["labels"] = {tensor::DType::kF32, {3}};
  CHECK_FALSE(mean("[1, 5, 9]", 3, several));
}

TEST_CASE("without a word of data there is nothing to read") {
  NetworkConfig config = network("[1, 2, 3]");
  settle_class_weights(config, pets({"a", "b", "c"}),
                       [](const auto&) { FAIL("records are read"); });
}

}  // namespace dl::nn::class_weights_test
