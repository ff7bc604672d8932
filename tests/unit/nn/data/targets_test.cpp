// Targets of regression are learnt with mean 0 and deviation 1, and predicted
// in their own units.

#include "libcore/nn/data/targets.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/data/target_source.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::targets_test {
namespace {

using testing::compile;
using testing::Examples;
using testing::sequence;

constexpr char kLinear[] =
    R"({"type": "output", "units": 2, "activation": "identity",
        "loss": "mean_squared_error"})";

data::Metadata metadata(double mean, double deviation) {
  data::Metadata data;
  data.schema["features"] = {tensor::DType::kF32, {3}};
  data.schema["labels"] = {tensor::DType::kF32, {2}};
  data.label_statistics.emplace();
  tensor::Tensor y(tensor::DType::kF32, {2, 2});
  y.as<float>()[0] = static_cast<float>(mean - deviation);
  y.as<float>()[2] = static_cast<float>(mean + deviation);
  data.label_statistics->add(y, nullptr, "labels");
  return data;
}

std::string error_of(std::string_view kind, const NetworkConfig& config,
                     const data::Metadata& data, Code code = Code::kConfig) {
  std::string note;
  try {
    fit_targets(kind, config, data, note);
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  return "";
}

TEST_CASE("targets of a linear output are standardized by default") {
  const NetworkConfig config = sequence("[3]", kLinear);
  const data::Metadata data = metadata(10000, 5);
  std::string note;
  const auto made = fit_targets("auto", config, data, note);
  CHECK(made.shift == std::vector<double>{10000, 0});
  CHECK(made.scale == std::vector<double>{0.2, 1});  // one is constant
  CHECK(note.empty());
  CHECK(fit_targets("standardize", config, data, note) == made);
  CHECK(fit_targets("none", config, data, note).changes_nothing());
  CHECK_THAT(error_of("best", config, data, Code::kUsage),
             Catch::Contains("'best'"));
}

TEST_CASE("targets are left alone where they cannot be standardized") {
  data::Metadata data = metadata(3, 1);
  const auto left_alone = [&](const std::string& output) {
    const NetworkConfig config = sequence("[3]", output);
    std::string note;
    const bool left = fit_targets("auto", config, data, note).changes_nothing();
    CHECK(note.empty());
    CHECK_FALSE(error_of("standardize", config, data).empty());
    return left;
  };
  CHECK(left_alone(R"({"type": "output", "units": 2, "activation": "sigmoid",
                       "loss": "mean_squared_error"})"));
  CHECK(left_alone(R"({"type": "output", "units": 2, "activation": "sigmoid",
                       "loss": "binary_cross_entropy"})"));
  data.schema["labels"] = {tensor::DType::kI32, {}};  // classes
  CHECK(left_alone(kLinear));
  // Two of them, for a single output: they are 0 and 1, and have no statistics.
  data.classes = {"no", "yes"};
  data.label_statistics.reset();
  CHECK(left_alone(R"({"type": "output", "units": 1, "activation": "identity",
                       "loss": "mean_squared_error"})"));
  // Data of version 0.1 have no statistics of labels.
  data = metadata(3, 1);
  data.label_statistics.reset();
  std::string note;
  const NetworkConfig config = sequence("[3]", kLinear);
  CHECK(fit_targets("auto", config, data, note).changes_nothing());
  CHECK_THAT(note, Catch::Contains("no statistics of their labels"));
}

TEST_CASE(
    "a network learns targets as normalized, and predicts in their units") {
  const NetworkConfig config = sequence("[3]", kLinear);
  const data::Normalizer targets{"standardize", {10000, -3}, {0.25, 8}};
  for (const char* device : {"reference", "cpu"}) {
    // The same labels, normalized by hand.
    Examples own = testing::random_examples(config, 9), by_hand = own;
    for (std::size_t i = 0; i < 18; ++i) {
      double& y = own.labels.as<double>()[i];
      y = y / targets.scale[i % 2] + targets.shift[i % 2];
      by_hand.labels.as<double>()[i] =
          (y - targets.shift[i % 2]) * targets.scale[i % 2];
    }
    Network network(config, {{}, targets}, 9, device::open_lanes(device, 2),
                    true);
    Network plain = compile(config, 9, device, 2);
    for (int i = 0; i < 3; ++i)
      CHECK(testing::train(network, own.batch(), i) ==
            Approx(testing::train(plain, by_hand.batch(), i)).epsilon(1e-3));
    const auto y = testing::predict(network, own.features);
    const auto z = testing::predict(plain, own.features);
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(y[i] == Approx(z[i] / targets.scale[i % 2] + targets.shift[i % 2])
                        .epsilon(1e-3));
  }
}

TEST_CASE("columns of the data are those of a target in the network's shape") {
  const data::Normalizer flat{
      "minmax", {1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1}};
  const auto shift = [](const data::Normalizer& n, const TargetSource& source) {
    const data::Normalizer part = part_of(n, source);
    CHECK(part.scale.size() == part.shift.size());
    return part.shift;
  };
  // Rows that are images of 4 x 1 x 2, and of 8 x 1.
  CHECK(shift(flat, {0, 1, 1, 2}) == std::vector<double>{2, 4, 6, 8});
  CHECK(part_of(flat, {0, 0, 1, 1}) == flat);
  CHECK(shift(flat, {0, 5, 2, 8}) == std::vector<double>{6, 7});
  // Images that are rows.
  const data::Normalizer image{"minmax", {1, 2}, {1, 1}};
  CHECK(shift(image, {0, 3, 3, 8}) == std::vector<double>{2, 1, 2});
  CHECK(part_of(image, {0, 0, 8, 8}) == image);
}

}  // namespace
}  // namespace dl::nn::targets_test
