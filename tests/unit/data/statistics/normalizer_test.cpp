// The default normalization of columns of a table, and how little counts as
// constant.

#include "libcore/data/statistics/normalizer.h"

#include <catch2/catch.hpp>
#include <vector>

#include "libcore/data/picture_normalizer.h"
#include "tests/unit/error_of.h"

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

TEST_CASE("pictures have the numbers of well-known networks, by channel") {
  Metadata m;
  m.schema["features"] = {DType::kU8, {4, 4, 3}};
  const Normalizer imagenet = Normalizer::fit("imagenet", m);
  CHECK((124 - imagenet.shift[0]) * imagenet.scale[0] ==
        Approx((124 / 255.0 - 0.485) / 0.229));
  CHECK((1 - imagenet.shift[2]) * imagenet.scale[2] ==
        Approx((1 / 255.0 - 0.406) / 0.225));
  CHECK(Normalizer::fit("vgg", m).shift ==
        std::vector<double>{123.68, 116.779, 103.939});
  // Models keep them as one that all programs know.
  CHECK(imagenet.kind == "standardize");
  m.recipe = {{"tensors", {{"features", {{"color", "bgr"}}}}}};
  CHECK(Normalizer::fit("vgg", m).shift ==
        std::vector<double>{103.939, 116.779, 123.68});
  CHECK(Normalizer::fit("imagenet", m).scale[0] == imagenet.scale[2]);
  const std::string wanted =
      "78: normalizer 'vgg' is for pictures of three channels, as bytes";
  m.schema["features"] = {DType::kU8, {4, 4, 1}};
  CHECK(error_of([&] { Normalizer::fit("vgg", m); }) == wanted);
  m.schema["features"] = {DType::kF32, {4, 4, 3}};
  CHECK(error_of([&] { Normalizer::fit("vgg", m); }) == wanted);
}

}  // namespace dl::data::normalizer_test
