#include "libcore/vectorize/analysis/quantiles.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace dl::vectorize::quantiles_test {
namespace {

// 0 to n - 1, mixed.
Quantiles of_numbers(std::int64_t n) {
  constexpr std::int64_t kStep = 1'000'003;  // a prime
  Quantiles all;
  for (std::int64_t i = 0; i < n; ++i)
    all.add(static_cast<double>(i * kStep % n));
  return all;
}

}  // namespace

TEST_CASE(
    "quantiles of few values are exact, between neighbors in proportion") {
  Quantiles all;
  CHECK(std::isnan(all.at(0.5)));
  for (const double value : {4.0, 1.0, 3.0, 2.0}) all.add(value);
  CHECK(all.at(0) == 1);
  CHECK(all.at(0.25) == 1.75);
  CHECK(all.at(0.5) == 2.5);
  CHECK(all.at(1) == 4);
  const std::int64_t n = Quantiles::kExact;
  const Quantiles many = of_numbers(n);
  CHECK(many.error() == 0);
  CHECK(many.at(0.75) == 0.75 * static_cast<double>(n - 1));
}

TEST_CASE("quantiles of many values are as near as they say") {
  constexpr std::int64_t kNumbers = 1'000'000;
  const Quantiles all = of_numbers(kNumbers);
  CHECK(all.error() > 0);
  CHECK(all.error() < 0.001);
  for (const double share : {0.0, 0.01, 0.25, 0.5, 0.95, 1.0})
    CHECK(std::abs(all.at(share) / kNumbers - share) <= all.error());
}

}  // namespace dl::vectorize::quantiles_test
