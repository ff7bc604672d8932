// Reading of .npy files.

#include "libcore/convert/import/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Header {
  std::string type;  // "<f4"
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;  // before the numbers
};

// Text after 'KEY': in the header, a literal of Python's.
std::string_view after(std::string_view text, const std::string& key) {
  const auto at = text.find("'" + key + "':");
  if (at == std::string_view::npos) bad_data("its header has no " + key);
  text.remove_prefix(at + key.size() + 3);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

std::vector<std::int64_t> shape_in(std::string_view text) {
  const auto end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos)
    bad_data("its header has no shape");
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) return shape;
    std::int64_t extent = 0;
    const auto [next, error] =
        std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) bad_data("its header has no shape");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  }
}

Header header_of(std::span<const std::byte> file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              file.size());
  if (text.size() < 12 || !text.starts_with(kMagic))
    bad_data("it is no file of NumPy");
  const bool wide = text[6] >= 2;  // the version
  const std::size_t start = wide ? 12 : 10;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, wide ? 4 : 2);
  if (length > text.size() - start) bad_data("it is cut short");
  const std::string_view fields = text.substr(start, length);
  Header header;
  header.bytes = start + length;
  const std::string_view type = after(fields, "descr");
  if (!type.starts_with('\'') || type.find('\'', 1) == std::string_view::npos)
    bad_data("it holds records, not numbers");
  header.type = type.substr(1, type.find('\'', 1) - 1);
  header.fortran = after(fields, "fortran_order").starts_with("True");
  header.shape = shape_in(after(fields, "shape"));
  return header;
}

// IEEE 754's binary16.
struct Half {
  std::uint16_t bits;
  explicit operator float() const {
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    float value = std::ldexp(static_cast<float>(fraction), -24);
    if (exponent == 31)
      value = fraction == 0 ? std::numeric_limits<float>::infinity()
                            : std::numeric_limits<float>::quiet_NaN();
    else if (exponent > 0)
      value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return bits >> 15 != 0 ? -value : value;
  }
};

template <typename T>
void convert(std::span<const std::byte> from, bool big, std::span<float> to) {
  if (from.size() / sizeof(T) < to.size()) bad_data("it is cut short");
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from.data() + i * sizeof(T), sizeof(T));
    if (big) std::ranges::reverse(bytes);
    to[i] = static_cast<float>(std::bit_cast<T>(bytes));
  }
}

// Where each number of C's order lies in Fortran's, whose first axis is next to
// itself.
void reorder(const tensor::Shape& shape, std::span<float> values) {
  const std::vector<float> from(values.begin(), values.end());
  std::vector<std::size_t> step, index(static_cast<std::size_t>(shape.rank()));
  std::size_t next = 1;
  for (const std::int64_t extent : shape.extents()) {
    step.push_back(next);
    next *= static_cast<std::size_t>(extent);
  }
  std::size_t at = 0;
  for (float& value : values) {
    value = from[at];
    for (std::size_t k = index.size(); k-- > 0;) {
      at += step[k];
      if (++index[k] < static_cast<std::size_t>(shape[static_cast<int>(k)]))
        break;
      at -= index[k] * step[k];
      index[k] = 0;
    }
  }
}

void convert(const std::string& type, std::span<const std::byte> from,
             std::span<float> to) {
  const std::string kind = type.empty() ? "" : type.substr(1);
  const bool big = type.starts_with('>');
  if (kind == "f2") return convert<Half>(from, big, to);
  if (kind == "f4") return convert<float>(from, big, to);
  if (kind == "f8") return convert<double>(from, big, to);
  if (kind == "i8") return convert<std::int64_t>(from, big, to);
  if (kind == "i4") return convert<std::int32_t>(from, big, to);
  if (kind == "i2") return convert<std::int16_t>(from, big, to);
  if (kind == "i1") return convert<std::int8_t>(from, big, to);
  if (kind == "u8") return convert<std::uint64_t>(from, big, to);
  if (kind == "u4") return convert<std::uint32_t>(from, big, to);
  if (kind == "u2") return convert<std::uint16_t>(from, big, to);
  if (kind == "u1" || kind == "b1") return convert<std::uint8_t>(from, big, to);
  bad_data("its numbers are of the type " + in_quotes(type));
}

}  // namespace

tensor::Tensor read_npy(std::span<const std::byte> file) {
  const Header header = header_of(file);
  const tensor::Shape shape(std::span<const std::int64_t>(header.shape));
  const auto count = static_cast<std::uint64_t>(shape.elements());
  const std::span<const std::byte> numbers = file.subspan(header.bytes);
  if (count > numbers.size()) bad_data("it is cut short");
  tensor::Tensor array(tensor::DType::kF32, shape);
  convert(header.type, numbers, array.as<float>());
  if (header.fortran) reorder(shape, array.as<float>());
  return array;
}

}  // namespace dl::convert
