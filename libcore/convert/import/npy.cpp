#include "libcore/convert/import/npy.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert {
namespace {

static_assert(std::endian::native == std::endian::little);

[[noreturn]] void damaged(const std::string& what) {
  throw Error{Code::kData, what};
}

struct Header {
  std::string type;  // "<f4"
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;  // before the numbers
};

// What follows 'KEY': in the header, a literal of Python's.
std::string_view after(std::string_view text, const std::string& key) {
  const auto at = text.find("'" + key + "':");
  if (at == std::string_view::npos) damaged("its header has no " + key);
  text.remove_prefix(at + key.size() + 3);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

std::vector<std::int64_t> shape_in(std::string_view text) {
  const auto end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos)
    damaged("its header has no shape");
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) return shape;
    std::int64_t extent = 0;
    const auto [next, error] =
        std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) damaged("its header has no shape");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  }
}

Header header_of(std::span<const std::byte> file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              file.size());
  if (text.size() < 12 || !text.starts_with(kMagic))
    damaged("it is no file of NumPy");
  const bool wide = text[6] >= 2;  // the version
  const std::size_t start = wide ? 12 : 10;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, wide ? 4 : 2);
  if (length > text.size() - start) damaged("it is cut short");
  const std::string_view fields = text.substr(start, length);
  Header header;
  header.bytes = start + length;
  const std::string_view type = after(fields, "descr");
  if (!type.starts_with('\'') || type.find('\'', 1) == std::string_view::npos)
    damaged("it holds records, not numbers");
  header.type = type.substr(1, type.find('\'', 1) - 1);
  header.fortran = after(fields, "fortran_order").starts_with("True");
  header.shape = shape_in(after(fields, "shape"));
  return header;
}

template <typename T>
void convert(std::span<const std::byte> from, std::span<float> to) {
  if (from.size() / sizeof(T) < to.size()) damaged("it is cut short");
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
    to[i] = static_cast<float>(value);
  }
}

void convert(const std::string& type, std::span<const std::byte> from,
             std::span<float> to) {
  const std::string kind = type.empty() ? "" : type.substr(1);
  if (type.starts_with('>')) damaged("its numbers are big-endian");
  if (kind == "f4") return convert<float>(from, to);
  if (kind == "f8") return convert<double>(from, to);
  if (kind == "i8") return convert<std::int64_t>(from, to);
  if (kind == "i4") return convert<std::int32_t>(from, to);
  if (kind == "i2") return convert<std::int16_t>(from, to);
  if (kind == "i1") return convert<std::int8_t>(from, to);
  if (kind == "u8") return convert<std::uint64_t>(from, to);
  if (kind == "u4") return convert<std::uint32_t>(from, to);
  if (kind == "u2") return convert<std::uint16_t>(from, to);
  if (kind == "u1" || kind == "b1") return convert<std::uint8_t>(from, to);
  damaged("its numbers are of the type " + in_quotes(type));
}

}  // namespace

tensor::Tensor read_npy(std::span<const std::byte> file) {
  const Header header = header_of(file);
  const tensor::Shape shape(std::span<const std::int64_t>(header.shape));
  const auto count = static_cast<std::uint64_t>(shape.elements());
  const std::span<const std::byte> numbers = file.subspan(header.bytes);
  if (count > numbers.size()) damaged("it is cut short");
  if (header.fortran && shape.rank() > 1)
    damaged("it is in Fortran's order; numpy.ascontiguousarray() changes that");
  tensor::Tensor array(tensor::DType::kF32, shape);
  convert(header.type, numbers, array.as<float>());
  return array;
}

}  // namespace dl::convert
