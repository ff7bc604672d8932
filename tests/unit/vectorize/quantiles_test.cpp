#include "libcore/vectorize/analysis/quantiles.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"

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

TEST_CASE("values that come again count as often, also below zero") {
  Quantiles often, each;
  for (int i = -300; i < 300; ++i) {
    const double value = i * 0.37;
    const int times = 1 + (i + 300) % 7;
    often.add(value, times);
    for (int k = 0; k < times; ++k) each.add(value);
  }
  CHECK(often.count() == each.count());
  for (const double share : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0})
    CHECK(often.at(share) == each.at(share));
  const std::vector<double> bounds = {-200, -50.5, 0, 37, 200};
  CHECK(often.shares_up_to(bounds) == each.shares_up_to(bounds));
}

TEST_CASE("quantiles of parts merge, and come back from a file") {
  constexpr std::int64_t kParts = 4, kNumbers = 100'000;
  Quantiles all;
  for (std::int64_t part = 0; part < kParts; ++part) {
    Quantiles own;
    for (std::int64_t i = part; i < kNumbers; i += kParts)
      own.add(static_cast<double>(i));
    const Json state = own.state();
    all.merge(Quantiles::of_state(JsonView(state, Code::kData)));
  }
  CHECK(all.count() == kNumbers);
  CHECK(all.error() > 0);
  CHECK(all.error() < 0.002);
  for (const double share : {0.0, 0.01, 0.5, 0.99, 1.0})
    CHECK(std::abs(all.at(share) / (kNumbers - 1) - share) <=
          all.error() + 1.0 / kNumbers);  // a place counts from 0 or from 1
  Json bad = all.state();
  bad["count"] = 7;
  CHECK_THROWS_AS(Quantiles::of_state(JsonView(bad, Code::kData)), Error);
}

}  // namespace dl::vectorize::quantiles_test
