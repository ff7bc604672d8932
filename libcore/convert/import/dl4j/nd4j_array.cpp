// Reading of ND4J's arrays.

#include "libcore/convert/import/dl4j/nd4j_array.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kMaxRank = 32;

struct Type {
  std::string_view name;
  std::size_t bytes;
  double (*value)(std::uint64_t bits);
};

double half(std::uint64_t bits) {
  const auto sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const auto exponent = static_cast<std::uint32_t>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<std::uint32_t>(bits & 0x3ff);
  if (exponent == 0) {
    const double value = fraction / 16777216.0;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <typename T>
double integral(std::uint64_t bits) {
  return static_cast<double>(static_cast<T>(bits));
}

constexpr Type kTypes[] = {
    {"FLOAT", 4,
     [](std::uint64_t b) -> double {
       return std::bit_cast<float>(static_cast<std::uint32_t>(b));
     }},
    {"DOUBLE", 8, [](std::uint64_t b) { return std::bit_cast<double>(b); }},
    {"HALF", 2, half},
    {"BFLOAT16", 2,
     [](std::uint64_t b) -> double {
       return std::bit_cast<float>(static_cast<std::uint32_t>(b << 16));
     }},
    {"LONG", 8, integral<std::int64_t>},
    {"INT", 4, integral<std::int32_t>},
    {"SHORT", 2, integral<std::int16_t>},
    {"BYTE", 1, integral<std::int8_t>},
    {"UBYTE", 1, integral<std::uint8_t>},
    {"UINT16", 2, integral<std::uint16_t>},
    {"UINT32", 4, integral<std::uint32_t>},
    {"UINT64", 8, integral<std::uint64_t>},
    {"BOOL", 1, integral<std::uint8_t>}};

// The numbers of a buffer as they lie in it, still in their bytes.
struct Buffer {
  const Type* type = nullptr;
  std::span<const std::byte> bytes;
  std::size_t count() const { return bytes.size() / type->bytes; }
  std::uint64_t bits(std::size_t i) const {
    return Bytes(bytes.subspan(i * type->bytes, type->bytes))
        .integer(type->bytes);
  }
};

// Lengths have four bytes before version 1.0.0-beta.
Buffer read_buffer(Bytes& bytes) {
  const std::string mode = bytes.text();
  const bool wide = mode == "MIXED_DATA_TYPES" || mode == "LONG_SHAPE";
  if (!wide && mode != "JAVACPP" && mode != "HEAP" && mode != "DIRECT")
    bad_data("its allocation mode " + in_quotes(mode) +
             " is none of ND4J's that is known");
  const std::uint64_t count = bytes.integer(wide ? 8 : 4);
  const std::string name = bytes.text();
  const auto type = std::ranges::find(kTypes, name, &Type::name);
  if (type == std::end(kTypes))
    bad_data("its numbers are of the type " + in_quotes(name) +
             ", which is not read");
  if (count > bytes.left() / type->bytes)
    bad_data("it ends before its " + std::to_string(count) + " numbers");
  return {type, bytes.take(static_cast<std::size_t>(count) * type->bytes)};
}

}  // namespace

std::span<const std::byte> Bytes::take(std::size_t count) {
  if (count > bytes_.size()) bad_data("it ends too early");
  const auto taken = bytes_.first(count);
  bytes_ = bytes_.subspan(count);
  return taken;
}

std::uint64_t Bytes::integer(std::size_t bytes) {
  std::uint64_t value = 0;
  for (const std::byte one : take(bytes))
    value = value << 8 | static_cast<std::uint64_t>(one);
  return value;
}

double Bytes::real() { return std::bit_cast<double>(integer(8)); }

bool Bytes::flag() { return integer(1) != 0; }

std::string Bytes::text() {
  const auto length = static_cast<std::size_t>(integer(2));
  const auto taken = take(length);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

// rank, extents, strides, flags, distance, order
Nd4jArray read_nd4j_array(Bytes& bytes) {
  const Buffer shape = read_buffer(bytes);
  const auto at = [&](std::size_t i) {
    return static_cast<std::int64_t>(shape.type->value(shape.bits(i)));
  };
  if (shape.count() < 4 || at(0) < 0 || at(0) > kMaxRank)
    bad_data("it has no shape");
  const auto rank = static_cast<std::size_t>(at(0));
  if (shape.count() != 2 * rank + 4) bad_data("its shape is damaged");
  const Buffer data = read_buffer(bytes);
  Nd4jArray array;
  std::vector<std::int64_t> stride;
  std::size_t elements = 1, last = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t extent = at(1 + k), step = at(1 + rank + k);
    if (extent < 0 || step < 0) bad_data("its shape is damaged");
    array.shape.push_back(extent);
    stride.push_back(step);
    // Each number of the array is one of the buffer, which bounds them all.
    const auto many = static_cast<std::uint64_t>(extent);
    if (many != 0 && elements > data.count() / many)
      bad_data("its shape has more numbers than it holds");
    elements *= static_cast<std::size_t>(many);
    if (extent < 2) continue;
    const auto reach = static_cast<std::uint64_t>(step);
    if (reach > data.count() || (many - 1) > data.count() ||
        (many - 1) * reach > data.count())
      bad_data("its strides lead out of it");
    last += static_cast<std::size_t>((many - 1) * reach);
  }
  if (elements > 0 && last >= data.count())
    bad_data("its strides lead out of it");
  array.values.resize(elements);
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t from = 0;
  for (float& value : array.values) {
    value = static_cast<float>(
        data.type->value(data.bits(static_cast<std::size_t>(from))));
    for (std::size_t k = rank; k-- > 0;) {
      from += stride[k];
      if (++index[k] < array.shape[k]) break;
      from -= index[k] * stride[k];
      index[k] = 0;
    }
  }
  return array;
}

}  // namespace dl::convert::dl4j
