// Tests of libcore/convert/import/npy.h.

#include "libcore/convert/import/npy.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "libcore/base/error.h"

namespace dl::convert::npy_test {
namespace {

// A file of version 1.
tensor::Tensor read(const std::string& type, bool fortran,
                    const std::string& shape, const std::string& numbers) {
  std::string header = "{'descr': '" + type +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(header.size());
  file += '\0';
  file += header + numbers;
  return read_npy(std::as_bytes(std::span(file)));
}

std::vector<float> values(const tensor::Tensor& tensor) {
  const auto all = tensor.as<float>();
  return {all.begin(), all.end()};
}

TEST_CASE("either order of bytes") {
  CHECK(
      values(read(">i2", false, "(2,)", std::string("\x01\x02\xff\xfe", 4))) ==
      std::vector<float>{258, -2});
  CHECK(values(read(">f4", false, "(1,)", std::string("\x3f\xc0\0\0", 4))) ==
        std::vector<float>{1.5F});
}

TEST_CASE("Fortran's order becomes C's") {
  const tensor::Tensor array =
      read("|u1", true, "(2, 3)", std::string("\1\4\2\5\3\6", 6));
  CHECK(array.shape() == tensor::Shape{2, 3});
  CHECK(values(array) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("halves of all kinds") {
  // 1, -2, the largest, the smallest, the smallest normal, -0, infinite, none
  const std::string bytes(
      "\x00\x3c\x00\xc0\xff\x7b\x01\x00\x00\x04\x00\x80\x00\xfc\x00\x7e", 16);
  const auto all = values(read("<f2", false, "(8,)", bytes));
  REQUIRE(all.size() == 8);
  CHECK(all[0] == 1);
  CHECK(all[1] == -2);
  CHECK(all[2] == 65504);
  CHECK(all[3] == std::ldexp(1.0F, -24));
  CHECK(all[4] == std::ldexp(1.0F, -14));
  CHECK((all[5] == 0 && std::signbit(all[5])));
  CHECK((std::isinf(all[6]) && all[6] < 0));
  CHECK(std::isnan(all[7]));
}

TEST_CASE("other types are refused") {
  CHECK_THROWS_WITH(read("<c8", false, "(1,)", std::string(8, '\0')),
                    "its numbers are of the type '<c8'");
  CHECK_THROWS_WITH(read("<f2", false, "(3,)", std::string(4, '\0')),
                    "it is cut short");
}

}  // namespace
}  // namespace dl::convert::npy_test
