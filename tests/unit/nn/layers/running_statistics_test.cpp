// Running means and variances, and mini-batches of other sizes.

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/nn/support.h"

namespace dl::nn::running_statistics_test {

using testing::compile;
using testing::Examples;
using testing::values;

namespace {

NetworkConfig normalized() {
  return testing::sequence("[3]", R"({"type": "batch_norm"},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"})");
}

// The mean of column c, and the variance about it.
std::pair<double, double> moments(const tensor::Tensor& x, std::int64_t c) {
  const std::int64_t n = x.shape()[0];
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x.value(3 * i + c);
  const double mean = sum / static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i)
    squares += std::pow(x.value(3 * i + c) - mean, 2);
  return {mean, squares / static_cast<double>(n)};
}

}  // namespace

TEST_CASE("a short mini-batch moves running statistics by its share") {
  const std::string device = GENERATE("reference", "cpu");
  const int lanes = GENERATE(1, 2);
  CAPTURE(device, lanes);
  const NetworkConfig config = normalized();
  Network network = compile(config, 4, device, lanes);
  const Examples whole = testing::random_examples(config, 4, 1),
                 short_one = testing::random_examples(config, 1, 2);
  std::vector<double> want = values(network, network.statistics());
  const auto step = [&](const Examples& data, double share) {
    network.compute_gradient(data.batch(), {.whole = 4});
    const double decay = std::pow(0.9, share);
    for (std::int64_t c = 0; c < 3; ++c) {
      const auto [mean, variance] = moments(data.features, c);
      const auto at = static_cast<std::size_t>(c);
      want[at] = decay * want[at] + (1 - decay) * mean;
      want[3 + at] = decay * want[3 + at] + (1 - decay) * variance;
    }
    CHECK(testing::distance(values(network, network.statistics()), want) <=
          1e-6);
  };
  step(whole, 1);
  step(short_one, 0.25);
  step(whole, 1);
}

TEST_CASE("whole mini-batches move them as where no size is told") {
  const NetworkConfig config = normalized();
  const Examples data = testing::random_examples(config, 4);
  Network told = compile(config, 4, "cpu"), untold = compile(config, 4, "cpu");
  told.compute_gradient(data.batch(), {.whole = 4});
  untold.compute_gradient(data.batch(), {});
  CHECK(values(told, told.statistics()) == values(untold, untold.statistics()));
}

}  // namespace dl::nn::running_statistics_test
