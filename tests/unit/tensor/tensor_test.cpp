// Tests of tensors and their types.

#include "libcore/tensor/tensor.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "libcore/base/error.h"

namespace dl::tensor::tensor_test {

namespace {

Tensor counting(DType dtype, Shape shape) {
  Tensor t(dtype, shape);
  visit_dtype(dtype, [&]<typename T>() {
    std::iota(t.as<T>().begin(), t.as<T>().end(), T(0));
  });
  return t;
}

}  // namespace

TEST_CASE("dtypes have safetensors' names and sizes") {
  const std::vector<std::pair<const char*, std::size_t>> known = {
      {"U8", 1},  {"I8", 1},  {"I16", 2}, {"I32", 4},
      {"I64", 8}, {"F32", 4}, {"F64", 8}};
  for (const auto& [name, size] : known) {
    const DType type = dtype_named(name);
    CHECK(name_of(type) == name);
    CHECK(size_of(type) == size);
  }
  for (const char* name : {"", "F16", "u8", "F32 "}) {
    try {
      dtype_named(name);
      FAIL("accepted " << name);
    } catch (const Error& e) {
      CHECK(e.code() == Code::kData);
    }
  }
}

TEST_CASE("a new tensor is zeros, aligned") {
  const Tensor t(DType::kF32, Shape{3, 5});
  CHECK_FALSE(t.empty());
  CHECK(t.bytes().size() == 60);
  CHECK(reinterpret_cast<std::uintptr_t>(t.bytes().data()) % 64 == 0);
  for (const float x : t.as<float>()) CHECK(x == 0.0f);
  CHECK(Tensor().empty());
  CHECK(Tensor().bytes().empty());
  CHECK_FALSE(Tensor(DType::kF32, Shape{0, 5}).empty());
}

TEST_CASE("elements are read as their own type only") {
  Tensor t(DType::kI16, Shape{2});
  t.as<std::int16_t>()[1] = -7;
  CHECK(t.value(1) == -7.0);
  CHECK_THROWS_AS(t.as<float>(), Error);
  CHECK_THROWS_AS(t.value(2), Error);
  CHECK_THROWS_AS(t.value(-1), Error);
}

TEST_CASE("value() reads every dtype") {
  for (const DType type : {DType::kU8, DType::kI8, DType::kI16, DType::kI32,
                           DType::kI64, DType::kF32, DType::kF64})
    CHECK(counting(type, Shape{2, 2}).value(3) == 3.0);
}

TEST_CASE("copies are deep, moves leave nothing behind") {
  Tensor a = counting(DType::kI32, Shape{4});
  Tensor b = a;
  b.as<std::int32_t>()[0] = 9;
  CHECK(a.value(0) == 0.0);
  CHECK(b.value(0) == 9.0);

  Tensor c = std::move(a);
  CHECK(c.value(3) == 3.0);
  CHECK(a.empty());
  a.resize(DType::kI32, Shape{2});
  CHECK(a.value(1) == 0.0);

  b = Tensor();
  CHECK(b.empty());
  Tensor absent;
  c = absent;
  CHECK(c.empty());
}

TEST_CASE("rows() copies a range of examples") {
  const Tensor t = counting(DType::kF32, Shape{4, 3});
  const Tensor part = t.rows(1, 3);
  CHECK(part.shape() == Shape{2, 3});
  CHECK(part.value(0) == 3.0);
  CHECK(part.value(5) == 8.0);
  CHECK(t.rows(2, 2).shape() == Shape{0, 3});
  CHECK_THROWS_AS(t.rows(3, 5), Error);
  CHECK_THROWS_AS(t.rows(3, 2), Error);
  CHECK_THROWS_AS(t.rows(-1, 2), Error);
}

TEST_CASE("reshape keeps the elements, resize keeps the memory") {
  Tensor t = counting(DType::kF32, Shape{4, 3});
  t.reshape(Shape{2, 6});
  CHECK(t.value(11) == 11.0);
  CHECK_THROWS_AS(t.reshape(Shape{5}), Error);

  const std::byte* memory = t.bytes().data();
  t.resize(DType::kU8, Shape{48});
  CHECK(t.bytes().data() == memory);
  CHECK(t.bytes().size() == 48);
  t.resize(DType::kF64, Shape{100});
  CHECK(t.bytes().size() == 800);
}

TEST_CASE("a tensor larger than memory is an error, not a crash") {
  for (const std::int64_t n : {std::int64_t{1} << 60, INT64_MAX})
    for (const DType type : {DType::kU8, DType::kF64})
      CHECK_THROWS_AS(Tensor(type, Shape{n}), Error);
}

}  // namespace dl::tensor::tensor_test
