// Tests of libcore/cluster/loading/odd_values.h.

#include "libcore/cluster/loading/odd_values.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

namespace dl::cluster::odd_values_test {

using dl::data::DataSet;
using dl::tensor::DType;
using dl::tensor::Tensor;

namespace {

// Two features each: i and -2 i, for i from 1 on.
DataSet record(std::int64_t examples) {
  Tensor features(DType::kF32, {examples, 2});
  const auto values = features.as<float>();
  for (std::int64_t i = 0; i < examples; ++i) {
    values[static_cast<std::size_t>(2 * i)] = static_cast<float>(i + 1);
    values[static_cast<std::size_t>(2 * i + 1)] =
        -2 * static_cast<float>(i + 1);
  }
  DataSet set;
  set.tensors["features"] = std::move(features);
  return set;
}

const std::vector<std::uint32_t> kAll = {0, 1, 2, 3};

}  // namespace

TEST_CASE("an example that is out of all proportion is named") {
  OddValues usual;
  usual.learn(record(9));
  DataSet set = record(4);
  CHECK(usual.of(set, kAll).empty());
  set.tensors["features"].as<float>()[5] = -1e30F;
  CHECK(usual.of(set, kAll) ==
        "example 2: features has a value of -1e+30, and half of all examples "
        "have none above 10");
  CHECK(usual.of(set, std::vector<std::uint32_t>{0, 1, 3}).empty());
  // NaN is found wherever it stands.
  for (const std::size_t place : {4U, 5U}) {
    set = record(4);
    set.tensors["features"].as<float>()[place] =
        std::numeric_limits<float>::quiet_NaN();
    CHECK(usual.of(set, kAll) ==
          "example 2: features has a value of nan, and half of all examples "
          "have none above 10");
  }
}

TEST_CASE("nothing is odd beside nothing, and no name of an example") {
  OddValues usual;
  DataSet set = record(4);
  CHECK(usual.of(set, kAll).empty());
  usual.learn(record(9));
  set.tensors.clear();
  Tensor index(DType::kI64, {4});
  set.tensors["index"] = std::move(index);
  CHECK(usual.of(set, kAll).empty());
}

}  // namespace dl::cluster::odd_values_test
