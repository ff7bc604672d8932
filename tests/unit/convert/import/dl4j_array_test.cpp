// Tests of reading ND4J's arrays and normalizers.

#include <bit>
#include <catch2/catch.hpp>
#include <string>

#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/nd4j_array.h"
#include "libcore/convert/import/dl4j/normalizer.h"

namespace dl::convert::dl4j::dl4j_array_test {
namespace {

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = bytes; k-- > 0;)
    text += static_cast<char>(value >> (8 * k) & 0xff);
  return text;
}

std::string utf(const std::string& text) {
  return big_endian(text.size(), 2) + text;
}

std::string of_float(float value) {
  return big_endian(std::bit_cast<std::uint32_t>(value), 4);
}

// A buffer of integers, of a version of wide lengths or of an earlier one.
std::string shape_buffer(const std::vector<std::uint64_t>& values, bool wide) {
  std::string text = utf(wide ? "MIXED_DATA_TYPES" : "JAVACPP") +
                     big_endian(values.size(), wide ? 8 : 4) +
                     utf(wide ? "LONG" : "INT");
  for (const std::uint64_t value : values)
    text += big_endian(value, wide ? 8 : 4);
  return text;
}

std::string float_buffer(const std::vector<float>& values, bool wide = true) {
  std::string text = utf(wide ? "MIXED_DATA_TYPES" : "JAVACPP") +
                     big_endian(values.size(), wide ? 8 : 4) + utf("FLOAT");
  for (const float value : values) text += of_float(value);
  return text;
}

Nd4jArray read(const std::string& text) {
  Bytes bytes(std::as_bytes(std::span(text)));
  Nd4jArray array = read_nd4j_array(bytes);
  CHECK(bytes.left() == 0);
  return array;
}

void check_refused(const std::string& text, const std::string& why) {
  INFO(why);
  try {
    read(text);
    FAIL("it was read");
  } catch (const Error& e) {
    CHECK(e.code() == Code::kData);
    CHECK(std::string(e.what()).find(why) != std::string::npos);
  }
}

TEST_CASE("arrays of ND4J are read in both orders, of old and new versions") {
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  const Nd4jArray c = read(shape_buffer({2, 2, 3, 3, 1, 8192, 1, 'c'}, true) +
                           float_buffer(six));
  CHECK(c.shape == std::vector<std::int64_t>{2, 3});
  CHECK(c.values == six);
  const Nd4jArray f = read(shape_buffer({2, 2, 3, 1, 2, 0, 1, 'f'}, false) +
                           float_buffer(six, false));
  CHECK(f.values == std::vector<float>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("numbers of ND4J's other types become floats") {
  const std::string shape = shape_buffer({1, 2, 1, 0, 1, 'c'}, true);
  const auto of = [&](const char* type, const std::string& bytes) {
    return read(shape + utf("LONG_SHAPE") + big_endian(2, 8) + utf(type) +
                bytes)
        .values;
  };
  using Values = std::vector<float>;
  CHECK(of("DOUBLE", big_endian(std::bit_cast<std::uint64_t>(0.5), 8) +
                         big_endian(std::bit_cast<std::uint64_t>(-3.0), 8)) ==
        Values{0.5F, -3});
  CHECK(of("HALF", std::string("\x3c\x00\xb8\x01", 4)) ==
        Values{1, -0.50048828125F});
  CHECK(of("HALF", std::string("\x00\x01\x80\x00", 4)) ==
        Values{5.9604644775390625e-8F, -0.0F});
  CHECK(of("BFLOAT16", std::string("\x3f\xc0\xc0\x00", 4)) == Values{1.5F, -2});
  CHECK(of("BYTE", std::string("\xff\x02", 2)) == Values{-1, 2});
  CHECK(of("UBYTE", std::string("\xff\x02", 2)) == Values{255, 2});
}

TEST_CASE("arrays of ND4J that lie about their size are refused") {
  const std::string four = float_buffer({1, 2, 3, 4});
  const auto shaped = [](std::vector<std::uint64_t> values) {
    return shape_buffer(values, true);
  };
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  check_refused("", "ends too early");
  check_refused(shaped({40}) + four, "no shape");
  check_refused(shaped({2, 2, 2, 2, 1, 0, 1}) + four, "shape is damaged");
  check_refused(shaped({1, kHuge, 1, 0, 1, 'c'}) + four, "more numbers");
  check_refused(shaped({2, kHuge, kHuge, 0, 0, 0, 1, 'c'}) + four,
                "more numbers");
  check_refused(shaped({1, ~std::uint64_t{0}, 1, 0, 1, 'c'}) + four,
                "shape is damaged");
  check_refused(shaped({1, 4, 2, 0, 1, 'c'}) + four, "out of it");
  check_refused(shaped({1, 4, kHuge, 0, 1, 'c'}) + four, "out of it");
  check_refused(shaped({1, 4, 1, 0, 1, 'c'}) + four.substr(0, 40), "ends");
  check_refused(shaped({1, 4, 1, 0, 1, 'c'}) + utf("MIXED_DATA_TYPES") +
                    big_endian(kHuge, 8) + utf("DOUBLE") + "12345678",
                "ends before");
  check_refused(shaped({0, 0, 1, 'c'}) + utf("MIXED_DATA_TYPES") +
                    big_endian(1, 8) + utf("UTF8") + "x",
                "'UTF8'");
  check_refused(utf("ROT13") + four, "'ROT13'");
}

TEST_CASE("normalizers of DL4J become ours") {
  const auto array = [](const std::vector<float>& values) {
    return shape_buffer({2, 1, values.size(), values.size(), 1, 0, 1, 'c'},
                        true) +
           float_buffer(values);
  };
  const std::string head = utf("NORMALIZER") + big_endian(1, 4);
  const auto real = [](double x) {
    return big_endian(std::bit_cast<std::uint64_t>(x), 8);
  };
  const auto read_text = [](const std::string& text) {
    return read_normalizer(std::as_bytes(std::span(text)));
  };
  const Json standard =
      read_text(head + utf("STANDARDIZE") + '\1' + array({1, 2}) +
                array({4, 0}) + array({3}) + array({0.5}));
  CHECK(standard["inputs"][0]["shift"] == Json({1.0, 2.0}));
  CHECK(standard["inputs"][0]["scale"] == Json({0.25, 1.0}));
  CHECK(standard["outputs"][0]["scale"] == Json({2.0}));
  // 10..20 to -1..1
  const Json range = read_text(head + utf("MIN_MAX") + std::string(1, '\0') +
                               real(-1) + real(1) + array({10}) + array({20}));
  CHECK(range["inputs"][0]["scale"][0].get<double>() == Approx(0.2));
  CHECK(range["inputs"][0]["shift"][0].get<double>() == Approx(15));
  CHECK(range["outputs"].empty());
  const Json image =
      read_text(head + utf("IMAGE_MIN_MAX") + real(0) + real(1) + real(255));
  CHECK(image["inputs"][0]["scale"][0].get<double>() == Approx(1 / 255.0));
  // Normalizers of the inputs 0 and 2: to -1..1 is what that of input 2 says
  // itself.
  const auto number = [](int n) { return big_endian(n, 4); };
  const std::string numbers = number(2) + number(0) + number(1) + array({1}) +
                              array({2}) + number(2) + number(2) + array({0}) +
                              array({10});
  const std::string usual = number(2) + real(0) + real(1);
  const std::string own =
      number(1) + number(2) + number(2) + real(-1) + real(1);
  const std::string hybrid = head + utf("MULTI_HYBRID") + numbers + number(0) +
                             usual + number(0) + own + number(0);
  const Json mixed = read_text(hybrid);
  CHECK(mixed["inputs"].size() == 3);
  CHECK(mixed["inputs"][0]["scale"] == Json({0.5}));
  CHECK(mixed["inputs"][1]["kind"] == "none");
  CHECK(mixed["inputs"][2]["scale"][0].get<double>() == Approx(0.2));
  CHECK(mixed["inputs"][2]["shift"][0].get<double>() == Approx(5));
  CHECK(mixed["outputs"].empty());
  CHECK_THROWS_AS(read_text(hybrid.substr(0, hybrid.size() - 1)), Error);
  CHECK(read_text("\xac\xed" + std::string("\0\5sr", 4)).contains("unread"));
  CHECK(read_text(head + utf("CUSTOM") + utf("org.x.Y")).contains("unread"));
  CHECK_THROWS_AS(read_text(head + utf("STANDARDIZE")), Error);
}

}  // namespace
}  // namespace dl::convert::dl4j::dl4j_array_test
