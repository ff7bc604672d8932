// Quantiles of counted numbers.

#include "libcore/vectorize/table/number_counts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "libcore/base/error.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::number_counts_test {

namespace {

NumberCounts counts_of(const std::vector<double>& values) {
  NumberCounts counts;
  for (const double value : values) counts.add(value);
  return counts;
}

}  // namespace

TEST_CASE("quantiles lie on a line between numbers") {
  const NumberCounts counts = counts_of({4, 1, 2, 2});
  CHECK(counts.quantiles(even_shares(4)) ==
        std::vector<double>{1, 1.75, 2, 2.5, 4});
  CHECK(counts.min() == 1);
  CHECK(counts.max() == 4);
  CHECK(counts.error() == 0);
  CHECK(counts_of({-0.0, 0.0}).state()["values"].size() == 1);
  CHECK(even_shares(0) == std::vector<double>{0});
}

TEST_CASE("very many numbers lose bits, the same in any order and parts") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> drawn(1, 4);
  std::vector<double> values(NumberCounts::kMost * 2);
  for (double& value : values) value = drawn(random);
  const NumberCounts whole = counts_of(values);
  CHECK(whole.error() > 0);
  CHECK(whole.error() < 1e-5);
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(NumberCounts::kMost);
  NumberCounts parts = counts_of({middle, values.end()});
  parts.merge(JsonView(counts_of({values.begin(), middle}).state(), Code::kBug),
              static_cast<std::int64_t>(NumberCounts::kMost));
  CHECK(parts.state() == whole.state());
  std::ranges::sort(values);
  constexpr double kShares[] = {0, 0.25, 1};
  const auto found = whole.quantiles(kShares);
  CHECK(found[0] == values.front());
  CHECK(found[1] == Approx(values[values.size() / 4]).epsilon(1e-5));
  CHECK(found[2] == values.back());
}

TEST_CASE("counts that cannot be are refused") {
  const auto refused = [](const char* text) {
    const Json json = parse_json(text, "it", Code::kData);
    return error_of(
        [&] { NumberCounts().merge(JsonView(json, Code::kData, "it"), 2); });
  };
  CHECK(
      refused(R"({"bits": 53, "values": [1], "counts": [3], "range": [1, 1]})")
          .starts_with("65: it"));
  CHECK(refused(R"({"bits": 53, "values": [1], "counts": [], "range": [1, 1]})")
            .starts_with("65: it"));
  CHECK(refused(R"({"bits": 54, "values": [], "counts": []})")
            .starts_with("65: it"));
  CHECK(refused(R"({"bits": 9, "values": [1], "counts": [1], "range": [2, 1]})")
            .starts_with("65: it"));
}

}  // namespace dl::vectorize::number_counts_test
