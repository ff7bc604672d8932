// Normally distributed numbers: each from its own place, the same on both
// devices, and distributed as they should be.

#include "tests/unit/device/lab.h"

namespace dl::device::normal_test {

using namespace dl::device::test;

namespace {

Values draw(Lab& lab, std::int64_t n, std::uint64_t first, double mean = 0,
            double deviation = 1, std::uint64_t key = 5,
            std::uint64_t stream = 6) {
  const View y = lab.blank(Shape{n});
  lab.device().normal(y, mean, deviation, key, stream, first);
  return lab.get(y);
}

}  // namespace

TEST_CASE("normal numbers of the cpu agree with the reference") {
  for (const std::int64_t n : {0, 1, 7, 16, 33, 5000})
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{12345}, (std::uint64_t{1} << 32) - 10,
          std::uint64_t{1} << 63}) {
      CAPTURE(n, first);
      check_like_reference([&](Lab& lab) {
        return draw(lab, n, first, -0.5, 1.5, 0xfedcba9876543210,
                    0x0123456789abcdef);
      });
    }
}

TEST_CASE("a normal number depends on its place alone") {
  Lab lab(tested());
  const Values all = draw(lab, 1000, 100);
  for (const std::int64_t n : {1, 5, 16, 100, 555}) {
    const Values part = draw(lab, n, 100 + 333);
    CHECK(std::equal(part.begin(), part.end(), all.begin() + 333));
  }
  CHECK(draw(lab, 10, 100, 0, 1, 5, 7) != draw(lab, 10, 100, 0, 1, 5, 6));
  CHECK(draw(lab, 10, 100, 0, 1, 4, 6) != draw(lab, 10, 100, 0, 1, 5, 6));
}

TEST_CASE("normal numbers are distributed normally") {
  Lab lab(tested());
  const std::int64_t n = 400000;
  const Values values = draw(lab, n, 0, 3, 2);
  double moments[5] = {};
  std::int64_t within_one = 0, beyond_three = 0;
  for (const double value : values) {
    const double z = (value - 3) / 2;
    double power = 1;
    for (double& moment : moments) {
      moment += power / static_cast<double>(n);
      power *= z;
    }
    within_one += std::abs(z) < 1 ? 1 : 0;
    beyond_three += std::abs(z) > 3 ? 1 : 0;
  }
  // Four standard errors.
  const double error = 4 / std::sqrt(static_cast<double>(n));
  CHECK(std::abs(moments[1]) < error);
  CHECK(std::abs(moments[2] - 1) < error * std::sqrt(2));
  CHECK(std::abs(moments[3]) < error * std::sqrt(15));
  CHECK(std::abs(moments[4] - 3) < error * std::sqrt(96));
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(n);
  };
  CHECK(std::abs(share(within_one) - 0.682689) < error * 0.47);
  CHECK(std::abs(share(beyond_three) - 0.0026998) < error * 0.052);
}

}  // namespace dl::device::normal_test
