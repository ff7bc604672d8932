// The default normalization of columns of a table, and how little counts as
// constant.

#include "libcore/data/normalizer.h"

#include <catch2/catch.hpp>
#include <vector>

namespace dl::data::normalizer_test {

using dl::tensor::DType;
using dl::tensor::Tensor;

namespace {

// Metadata of one column of a table; F32 unless said.
Metadata table(const std::vector<double>& values, DType dtype = DType::kF32) {
  const auto n = static_cast<std::int64_t>(values.size());
  Tensor x(dtype, {n, 1});
  dl::tensor::visit_dtype(dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < values.size(); ++i)
      x.as<T>()[i] = static_cast<T>(values[i]);
  });
  Metadata m;
  m.schema["features"] = {dtype, {1}};
  m.statistics.emplace();
  m.statistics->add(x, nullptr);
  return m;
}

double scale(const Metadata& m) {
  return Normalizer::fit("standardize", m).scale[0];
}

}  // namespace

TEST_CASE("columns of small numbers are columns, rounding noise is not") {
  CHECK(scale(table({1e-7, 3e-7, 1e-7, 3e-7})) == Approx(1e7));
  CHECK(scale(table({1e-30, 3e-30})) == Approx(1e30));
  CHECK(scale(table({5, 5, 5})) == 1);
  CHECK(scale(table({0, 0})) == 1);
  // 64 is one unit in the last place of 1e9 in F32; F64 tells 1e-3 apart.
  CHECK(scale(table({1e9, 1e9 + 64})) == 1);
  CHECK(scale(table({1e9 - 1e-3, 1e9 + 1e-3})) == 1);
  CHECK(scale(table({1e9 - 1e-3, 1e9 + 1e-3}, DType::kF64)) ==
        Approx(1e3).epsilon(1e-3));
  CHECK(scale(table({1e6, 1e6 + 2})) == Approx(1));
  CHECK(Normalizer::fit("minmax", table({1e-7, 3e-7})).scale[0] == Approx(5e6));
}

// Their inverse is no float, so that training met infinities.
TEST_CASE("columns that differ by denormal floats are constant") {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    CHECK(scale(table({1e-39, 3e-39}, dtype)) == 1);
    CHECK(Normalizer::fit("minmax", table({0, 5e-39}, dtype)).scale[0] == 1);
    CHECK(Normalizer::fit("auto", table({1e-40, 3e-40}, dtype)).scale[0] == 1);
  }
  CHECK(scale(table({1e-320, 3e-320}, DType::kF64)) == 1);
  CHECK(scale(table({1e-37, 3e-37})) == Approx(1e37));
}

TEST_CASE("auto standardizes columns of reals, and nothing else but bytes") {
  const Normalizer real = Normalizer::fit("auto", table({1, 2, 3}));
  CHECK(real.kind == "standardize");
  CHECK(real.shift[0] == 2);
  // A column of zeros and ones: one of several, or yes and no.
  CHECK(Normalizer::fit("auto", table({0, 1, 1, 0, 0})).kind == "none");
  CHECK(Normalizer::fit("auto", table({0, 0.5, 1})).kind == "standardize");
  CHECK(Normalizer::fit("standardize", table({0, 1})).kind == "standardize");
  CHECK(Normalizer::fit("auto", table({1, 2, 3}, DType::kI64)).kind == "none");
  CHECK(Normalizer::fit("auto", table({1, 2, 3}, DType::kU8)).kind == "scale");
  Metadata bare = table({1, 2});
  bare.statistics.reset();
  CHECK(Normalizer::fit("auto", bare).kind == "none");
}

TEST_CASE("a normalizer of an unknown kind is refused") {
  using dl::Json, dl::JsonView;
  for (const char* kind : {"none", "scale", "standardize", "minmax"}) {
    const Json json = {{"kind", kind}, {"shift", {0}}, {"scale", {1}}};
    CHECK(Normalizer::from_json(JsonView(json, dl::Code::kData)).kind == kind);
  }
  for (const char* kind : {"", "auto", "pca:2", "Scale"}) {
    const Json json = {{"kind", kind}, {"shift", {0}}, {"scale", {1}}};
    try {
      (void)Normalizer::from_json(
          JsonView(json, dl::Code::kData, "normalizer"));
      FAIL("no error for " << kind);
    } catch (const dl::Error& e) {
      CHECK(e.code() == dl::Code::kData);
      CHECK(e.what() ==
            "normalizer.kind: want none, scale, standardize, minmax, pca or "
            "whiten, got \"" +
                std::string(kind) + "\"");
    }
  }
}

TEST_CASE("a normalizer is undone by columns") {
  const Normalizer n{"standardize", {10, -1}, {0.5, 4}};
  std::vector<float> values = {0, 0, 1, 2};
  n.undo(values);
  CHECK(values == std::vector<float>{10, -1, 12, -0.5});
  Normalizer{}.undo(values);
  CHECK(values == std::vector<float>{10, -1, 12, -0.5});
}

}  // namespace dl::data::normalizer_test
