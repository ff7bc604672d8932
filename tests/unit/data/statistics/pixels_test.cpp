// Statistics of bytes, which are added up as whole numbers.

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/data/statistics/statistics.h"

namespace dl::data::pixels_test {

using tensor::DType;
using tensor::Tensor;

TEST_CASE("statistics of pixels are those of the same numbers as reals") {
  Philox random(1, 0);
  for (const std::int64_t columns : {1, 3, 4})
    for (const std::int64_t rows : {1, 2, 15, 16, 17, 33, 1000}) {
      Tensor bytes(DType::kU8, {rows, 1, columns}),
          reals(DType::kF32, {rows, 1, columns}), mask(DType::kU8, {rows, 1});
      for (std::size_t i = 0; i < bytes.bytes().size(); ++i) {
        const auto value = static_cast<std::uint8_t>(1 + random.below(254));
        bytes.as<std::uint8_t>()[i] = value;
        reals.as<float>()[i] = value;
      }
      for (std::uint8_t& mark : mask.as<std::uint8_t>())
        mark = static_cast<std::uint8_t>(random.below(2));
      mask.as<std::uint8_t>()[0] = 1;
      for (const bool masked : {false, true}) {
        Statistics of_bytes, of_reals;
        of_bytes.add(bytes, masked ? &mask : nullptr);
        of_reals.add(reals, masked ? &mask : nullptr);
        // Squares of whole numbers are exact, of their deviations not quite.
        for (std::size_t c = 0; c < of_bytes.m2.size(); ++c)
          CHECK(of_bytes.m2[c] == Approx(of_reals.m2[c]).epsilon(1e-13));
        of_reals.m2 = of_bytes.m2;
        CHECK(of_bytes == of_reals);
      }
    }
}

TEST_CASE("squares of many bright pixels do not overflow") {
  constexpr std::int64_t kRows = 3'000'000;
  for (const std::int64_t columns : {1, 3}) {
    Tensor bytes(DType::kU8, {kRows, columns});
    std::ranges::fill(bytes.as<std::uint8_t>(), std::uint8_t{255});
    Statistics bright;
    bright.add(bytes, nullptr);
    CHECK(bright.m2 == std::vector<double>(bright.m2.size(), 0.0));
    bytes.as<std::uint8_t>().back() = 254;
    Statistics one;
    one.add(bytes, nullptr);
    CHECK(one.m2.back() == Approx(1 - 1.0 / kRows).epsilon(1e-15));
    CHECK(one.min.back() == 254);
  }
}

}  // namespace dl::data::pixels_test
