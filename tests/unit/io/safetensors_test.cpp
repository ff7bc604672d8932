// The container's header: round trip and everything it must refuse.

#include "libcore/io/safetensors.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "libcore/base/error.h"

namespace dl::io::safetensors_test {

using Bytes = std::vector<std::byte>;

namespace {

Bytes blob(const std::string& json, std::size_t data) {
  Bytes out(8 + json.size() + data);
  const std::uint64_t n = json.size();
  std::memcpy(out.data(), &n, 8);
  std::memcpy(out.data() + 8, json.data(), json.size());
  return out;
}

std::string error_of(const Bytes& bytes) {
  try {
    parse_safetensors(bytes);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kData);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a header comes back as it was written") {
  std::vector<TensorEntry> tensors(3);
  tensors[0] = {"b", "F32", {2, 3}};
  tensors[1] = {"a", "U8", {5}};
  tensors[2] = {"scalar", "I64", {}};
  Bytes bytes = safetensors_header({{"k", "v"}, {"x", "\"quoted\""}}, tensors);
  CHECK(bytes.size() % 64 == 0);
  CHECK(tensors[2].begin == 29);
  bytes.resize(bytes.size() + 37);
  const SafetensorsHeader header = parse_safetensors(bytes);
  CHECK(header.metadata.at("x") == "\"quoted\"");
  REQUIRE(header.tensors.size() == 3);
  CHECK(header.tensors[0].name == "b");
  CHECK(header.tensors[1].shape == std::vector<std::int64_t>{5});
  CHECK(header.tensors[2].end == 37);
  CHECK(header.data_offset == bytes.size() - 37);
  std::vector<TensorEntry> none;
  CHECK(parse_safetensors(safetensors_header({}, none)).tensors.empty());
}

TEST_CASE("metadata that is no UTF-8 is written with replacements") {
  std::vector<TensorEntry> none;
  const Bytes bytes = safetensors_header({{"arguments", "a\xff"}}, none);
  CHECK(parse_safetensors(bytes).metadata.at("arguments") == "a\xef\xbf\xbd");
}

TEST_CASE("dishonest headers are refused") {
  const std::string f = R"("shape":[2],"data_offsets":[0,8]})";
  const auto is_bad = [](const Bytes& b) { return !error_of(b).empty(); };
  CHECK_FALSE(is_bad(blob(R"({"t":{"dtype":"F32",)" + f + "}", 8)));
  CHECK(is_bad(blob(R"({"t":{"dtype":"F32",)" + f + "}", 9)));  // too much
  CHECK(is_bad(blob(R"({"t":{"dtype":"F32",)" + f + "}", 7)));  // cut
  CHECK(is_bad(blob(R"({"t":{"dtype":"F64",)" + f + "}", 8)));  // size
  CHECK(is_bad(blob(R"({"t":{"dtype":"Q4",)" + f + "}", 8)));   // dtype
  CHECK(is_bad(blob(R"({"t":{"more":1,"dtype":"F32",)" + f + "}", 8)));
  CHECK(is_bad(
      blob(R"({"t":{"dtype":"F32",)" + f + R"(,"t":{"dtype":"F32",)" + f + "}",
           8)));  // duplicate name
  CHECK(is_bad(
      blob(R"({"t":{"dtype":"F32",)" + f + R"(,"u":{"dtype":"F32",)" + f + "}",
           8)));  // overlap
  CHECK(is_bad(blob(R"({"t":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                    3)));  // hole
  CHECK(is_bad(
      blob(R"({"t":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})", 2)));
  CHECK(is_bad(
      blob(R"({"t":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", 2)));
  CHECK(is_bad(blob(R"({"t":{"dtype":"F32","shape":[4294967296,4294967296],)"
                    R"("data_offsets":[0,0]}})",
                    0)));  // overflow
  CHECK(is_bad(blob(R"({"__metadata__":{"a":1}})", 0)));
  CHECK(is_bad(blob("[]", 0)));
  CHECK(is_bad(blob(std::string(100000, '['), 0)));
  CHECK(is_bad(blob("", 0)));
  CHECK(is_bad(Bytes(7)));
  Bytes lying = blob("{}", 0);
  lying[6] = std::byte{1};
  CHECK(error_of(lying).find("claims") != std::string::npos);
}

TEST_CASE("an empty tensor may be as large as it likes in other dimensions") {
  CHECK(
      error_of(blob(R"({"t":{"dtype":"F32","shape":[4294967296,0,4294967296],)"
                    R"("data_offsets":[0,0]}})",
                    0)) == "");
}

TEST_CASE("a header that could not be read is not written") {
  std::vector<TensorEntry> none;
  const std::string large(std::size_t{64} << 20, 'x');
  CHECK_THROWS_WITH(safetensors_header({{"a", large}}, none),
                    Catch::Contains("more than the 67108864 that can be read"));
}

}  // namespace dl::io::safetensors_test
