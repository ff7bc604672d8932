// Tests of libcore/data/statistics/outliers.h.

#include "libcore/data/statistics/outliers.h"

#include <catch2/catch.hpp>

namespace dl::data::outliers_test {

using dl::tensor::DType;
using dl::tensor::Tensor;

namespace {

// 400 rows of a column, all i % 10 but for so many of `value`.
Statistics with(int outliers, double value) {
  Tensor t(DType::kF64, {400, 1});
  for (int i = 0; i < 400; ++i)
    t.as<double>()[static_cast<std::size_t>(i)] = i < outliers ? value : i % 10;
  Statistics statistics;
  statistics.add(t, nullptr);
  return statistics;
}

}  // namespace

TEST_CASE("a column is called by one or two values that decide its scale") {
  CHECK(columns_of_outliers(with(1, 1e30)) == std::vector<std::size_t>{0});
  CHECK(columns_of_outliers(with(2, -1e9)) == std::vector<std::size_t>{0});
  CHECK(columns_of_outliers(with(0, 0)).empty());
  CHECK(columns_of_outliers(with(40, 1e9)).empty());  // of a kind
  CHECK(columns_of_outliers(with(1, 1000)).empty());  // as a count may be
}

}  // namespace dl::data::outliers_test
