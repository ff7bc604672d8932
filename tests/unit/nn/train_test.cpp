// Training until something has been learnt.

#include <catch2/catch.hpp>
#include <sstream>

#include "libcore/io/decompress.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::train_test {
namespace {

// Rows [begin, end) of the handwritten digits: 64 pixels 0..16 and the digit.
testing::Examples digits(std::int64_t begin, std::int64_t end) {
  const auto source = io::decompress(io::open_source(
      std::string(DL_SOURCE_DIR) + "/scripts/share/examples/digits.csv.gz"));
  std::istringstream text(io::read_all(*source, 1 << 22));
  testing::Examples e;
  e.features = tensor::Tensor(tensor::DType::kU8, {end - begin, 8, 8, 1});
  e.labels = tensor::Tensor(tensor::DType::kU8, {end - begin});
  std::string line;
  for (std::int64_t row = 0; row < end && std::getline(text, line); ++row) {
    std::istringstream numbers(line);
    for (std::int64_t column = 0; column < 65; ++column) {
      int value = 0;
      char comma = 0;
      numbers >> value >> comma;
      if (row < begin) continue;
      const std::int64_t at = row - begin;
      if (column < 64)
        e.features
            .as<std::uint8_t>()[static_cast<std::size_t>(64 * at + column)] =
            static_cast<std::uint8_t>(value);
      else
        e.labels.as<std::uint8_t>()[static_cast<std::size_t>(at)] =
            static_cast<std::uint8_t>(value);
    }
  }
  return e;
}

double accuracy(Network& network, const testing::Examples& data) {
  const auto outputs = testing::predict(network, data.features);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < data.labels.elements(); ++i) {
    const auto row = outputs.begin() + 10 * i;
    right += std::max_element(row, row + 10) - row ==
             static_cast<std::ptrdiff_t>(data.labels.value(i));
  }
  return static_cast<double>(right) /
         static_cast<double>(data.labels.elements());
}

TEST_CASE("the network of the demo learns to read digits") {
  constexpr std::int64_t kTrain = 1440, kBatch = 32;
  const NetworkConfig config = testing::example_network("digits.json");
  data::Normalizer normalizer{"scale", {0}, {1 / 16.0}};
  Network network =
      testing::compile(config, kBatch, "cpu", 2, true, normalizer);
  const testing::Examples all = digits(0, kTrain), test = digits(kTrain, 1797);
  CHECK(accuracy(network, test) < 0.3);
  double first = 0, last = 0;
  std::int64_t i = 0;
  for (int epoch = 0; epoch < 8; ++epoch) {
    last = 0;
    for (std::int64_t at = 0; at < kTrain; at += kBatch) {
      const tensor::Tensor features = all.features.rows(at, at + kBatch);
      const tensor::Tensor labels = all.labels.rows(at, at + kBatch);
      const double loss =
          testing::train(network, {&features, &labels, nullptr}, i++);
      if (at == 0 && epoch == 0) first = loss;
      last += loss * kBatch / kTrain;
    }
  }
  INFO("loss " << first << " to " << last);
  CHECK(first > 1.5);
  CHECK(last < 0.1);
  CHECK(accuracy(network, test) > 0.9);
}

TEST_CASE("a network learns exclusive or") {
  const NetworkConfig config = testing::sequence("[2]", R"(
      {"type": "dense", "units": 8, "activation": "tanh"},
      {"type": "output", "units": 1, "loss": "binary_cross_entropy"})",
                                                 R"(,
      "updater": {"type": "adam", "learning_rate": 0.1})");
  Network network = testing::compile(config, 4, "reference", 3);
  testing::Examples e;
  e.features = tensor::Tensor(tensor::DType::kI8, {4, 2});
  e.labels = tensor::Tensor(tensor::DType::kI8, {4});
  for (std::size_t i = 0; i < 4; ++i) {
    e.features.as<std::int8_t>()[2 * i] = static_cast<std::int8_t>(i & 1);
    e.features.as<std::int8_t>()[2 * i + 1] = static_cast<std::int8_t>(i >> 1);
    e.labels.as<std::int8_t>()[i] =
        static_cast<std::int8_t>((i & 1) ^ (i >> 1));
  }
  for (int i = 0; i < 200; ++i) testing::train(network, e.batch(), i);
  const auto outputs = testing::predict(network, e.features);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(outputs[i] - e.labels.as<std::int8_t>()[i]) < 0.1);
}

TEST_CASE("a network fits lines") {
  const std::string loss =
      GENERATE(as<std::string>{}, "mean_squared_error", "mean_absolute_error");
  const NetworkConfig config = testing::sequence("[1]", R"(
      {"type": "output", "units": 2, "loss": ")" + loss + R"("})",
                                                 R"(,
      "updater": {"type": "nesterov", "learning_rate":
        {"schedule": "polynomial", "initial": 0.05, "limit": 400}})");
  Network network = testing::compile(config, 9);
  testing::Examples e;
  e.features = tensor::Tensor(tensor::DType::kF32, {9, 1});
  e.labels = tensor::Tensor(tensor::DType::kF32, {9, 2});
  for (std::size_t i = 0; i < 9; ++i) {
    const float x = (static_cast<float>(i) - 4) / 4;
    e.features.as<float>()[i] = x;
    e.labels.as<float>()[2 * i] = 3 * x - 1;
    e.labels.as<float>()[2 * i + 1] = 0.5f - x;
  }
  for (int i = 0; i < 400; ++i) testing::train(network, e.batch(), i);
  // weight [2, 1], bias [2]
  CHECK(testing::distance(testing::values(network, network.parameters()),
                          {3, -1, -1, 0.5}) < 0.02);
}

}  // namespace
}  // namespace dl::nn::train_test
