// Tests of libcore/eval/exact_sum.h.

#include "libcore/eval/exact_sum.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "tests/unit/eval/make.h"

namespace dl::eval::exact_sum_test {
namespace {

ExactSum sum_of(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum;
}

// Finite doubles of all sizes.
std::vector<double> wild_terms(std::uint64_t seed, int count) {
  Philox random(seed, 1);
  std::vector<double> terms;
  for (int i = 0; i < count; ++i)
    terms.push_back(std::ldexp(random.normal(),
                               static_cast<int>(random.below(1900)) - 1000));
  return terms;
}

TEST_CASE("a sum keeps what doubles lose") {
  CHECK(sum_of({}).value() == 0);
  CHECK(sum_of({1e308, 1, -1e308}).value() == 1);
  CHECK(sum_of({1e16, 1, 1, -1e16}).value() == 2);
  CHECK(sum_of({0.1, 0.2, 0.3}).value() == 0.6);  // 0.6000000000000001 as is
  CHECK(sum_of({-0.5, 0.25}).value() == -0.25);
  CHECK(sum_of({1e308, 1e308}).value() ==
        std::numeric_limits<double>::infinity());
  CHECK(sum_of({1e308, 1e308, -1e308}).value() == 1e308);
}

TEST_CASE("a sum reaches the ends of the range") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double huge = std::numeric_limits<double>::max();
  CHECK(sum_of({tiny}).value() == tiny);
  CHECK(sum_of({-tiny, -tiny}).value() == -2 * tiny);
  CHECK(sum_of({huge, -tiny, -huge}).value() == -tiny);
  CHECK(sum_of({huge}).value() == huge);
  CHECK(sum_of({-huge}).value() == -huge);
}

TEST_CASE("a sum rounds to the nearest, ties to even") {
  const double ulp = std::ldexp(1, -52);
  CHECK(sum_of({1, ulp / 2}).value() == 1);
  CHECK(sum_of({1 + ulp, ulp / 2}).value() == 1 + 2 * ulp);
  CHECK(sum_of({1, ulp / 2, 1e-300}).value() == 1 + ulp);
  CHECK(sum_of({1, ulp / 2, -1e-300}).value() == 1);
  CHECK(sum_of({-1, -ulp / 2, -1e-300}).value() == -1 - ulp);
}

TEST_CASE("any order and grouping gives the same sum") {
  std::vector<double> terms = wild_terms(7, 500);
  const ExactSum all = sum_of(terms);
  Philox random(8, 1);
  for (int round = 0; round < 20; ++round) {
    shuffle(std::span<double>(terms), random);
    ExactSum joined;
    for (std::size_t begin = 0; begin < terms.size();) {
      const std::size_t end =
          std::min<std::size_t>(terms.size(), begin + 1 + random.below(100));
      joined.add(sum_of({terms.begin() + static_cast<long>(begin),
                         terms.begin() + static_cast<long>(end)}));
      begin = end;
    }
    REQUIRE(joined.to_string() == all.to_string());
    REQUIRE(joined.value() == all.value());
  }
  ExactSum none = all;
  none.subtract(all);
  CHECK(none.value() == 0);
  CHECK(none.to_string() == "0x0p+0");
}

TEST_CASE("integers add as integers do") {
  ExactSum sum;
  std::int64_t expected = 0;
  Philox random(9, 1);
  for (int i = 0; i < 100000; ++i) {
    const auto term = static_cast<std::int64_t>(random.below(1U << 31)) -
                      (std::int64_t{1} << 30);
    expected += term;
    sum.add(static_cast<double>(term));
  }
  CHECK(sum.value() == static_cast<double>(expected));
}

TEST_CASE("parts and products are exact") {
  const ExactSum sum = sum_of(wild_terms(11, 100));
  CHECK(sum_of(sum.parts()).to_string() == sum.to_string());
  ExactSum square;
  square.add_product(1e8 + 1, 1e8 + 1);  // 10000000200000001
  square.add(-1e16);
  CHECK(square.value() == 200000001);
}

TEST_CASE("centred sums survive a large mean") {
  // Values 2^24 + {0, 1, 2, 3}: variance 1.25 under squares of 2^48.
  ExactSum a, aa;
  for (int i = 0; i < 4; ++i) {
    const double value = 16777216.0 + i;
    a.add(value);
    aa.add_product(value, value);
  }
  CHECK(centred(4, aa, a, a) == 4 * 4 * 1.25);
}

TEST_CASE("a sum is spelt in one way") {
  CHECK(sum_of({1}).to_string() == "0x1p+0");
  CHECK(sum_of({-0.5}).to_string() == "-0x8p-4");
  CHECK(sum_of({6699}).to_string() == "0x1a2bp+0");
  CHECK(sum_of({65536}).to_string() == "0x1p+16");
  for (const double term : wild_terms(12, 200)) {
    const ExactSum sum = sum_of({term, 1, -3e-200});
    const ExactSum read = ExactSum::from_string(sum.to_string());
    REQUIRE(read.to_string() == sum.to_string());
    REQUIRE(read.value() == sum.value());
  }
  for (const char* bad :
       {"",          "0x",      "0xp+0",   "1p+0",     "0x1",
        "0x1p",      "0x1p+",   "0x1p+1",  "0x01p+0",  "0x10p+0",
        "0x1P+0",    "0xAp+0",  "0x1p+0 ", " 0x1p+0",  "0x1p-4000",
        "0x1p+4000", "-0x0p+0", "0x1p+-4", "--0x1p+0", "0x1p+99999999999",
        "0x1p-0"}) {
    INFO(bad);
    CHECK(error_of([&] { ExactSum::from_string(bad); }).substr(0, 3) == "65:");
  }
  const std::string endless = "0x" + std::string(100000, 'f') + "p+0";
  CHECK_THROWS_AS(ExactSum::from_string(endless), Error);
}

}  // namespace
}  // namespace dl::eval::exact_sum_test
