#include "libcore/vectorize/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/statistics/statistics.h"

namespace dl::vectorize {
namespace {

template <typename T>
std::errc parse_whole(std::string_view text, T& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return end == last ? error : std::errc::invalid_argument;
}

// The number that the last n of eight digits are, n in 1..8, by three
// multiplications; false: one of these is none.
bool read_digits(const char* eight, std::size_t n, std::uint32_t& value) {
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  std::uint64_t text = 0;
  std::memcpy(&text, eight, sizeof text);
  if constexpr (std::endian::native != std::endian::little) return false;
  const std::uint64_t wanted = ~std::uint64_t{0} << (64 - 8 * n);
  text = (text & wanted) | (kZeros & ~wanted);
  constexpr std::uint64_t kHigh = 0xF0F0F0F0F0F0F0F0, kSix = 0x0606060606060606;
  if (((text & kHigh) | (((text + kSix) & kHigh) >> 4)) != 0x3333333333333333)
    return false;
  text -= kZeros;
  text = text * 10 + (text >> 8);
  value = static_cast<std::uint32_t>(
      ((text & 0x000000FF000000FF) * 0x000F424000000064 +
       ((text >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
      32);
  return true;
}

// Short decimals such as -12.345, most numbers of tables: their digits and the
// power of ten are doubles, so one division rounds as from_chars does, in a
// fifth of the time.  False: it is another number, or none.
bool parse_short_decimal(std::string_view text, double& value) {
  constexpr std::size_t kDigits = 15;  // below 2^53
  constexpr std::array<double, kDigits + 1> kPowers = {
      1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr std::array<std::int64_t, 9> kWholePowers = {
      1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  const std::size_t size = text.size();
  if (size == 0 || size > kDigits + 1) return false;
  std::int64_t digits = 0;
  std::size_t at = 0;
  const auto take = [&](std::size_t end) {
    for (; at < end; ++at) {
      const auto digit = static_cast<unsigned>(text[at] - '0');
      if (digit > 9) return;
      digits = 10 * digits + static_cast<std::int64_t>(digit);
    }
  };
  take(size);
  std::size_t behind = 0;  // the point
  if (at < size) {
    if (text[at] != '.' || at == 0 || at + 1 == size) return false;
    behind = size - ++at;
    const std::size_t last = size < 8 ? 0 : std::min<std::size_t>(behind, 8);
    take(size - last);
    if (at < size - last) return false;
    if (std::uint32_t rest = 0; last > 0) {
      if (!read_digits(text.data() + size - 8, last, rest)) return false;
      digits = digits * kWholePowers[last] + rest;
    }
  }
  if (size - (behind > 0 ? 1 : 0) > kDigits) return false;
  value = static_cast<double>(digits) / kPowers[behind];
  if (negative) value = -value;
  return true;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    std::size_t end = text.find(separator);
    parts.emplace_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_list(std::string_view text, const char* option) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t first = text.find_first_not_of(" \t");
    std::string word;
    std::size_t end = text.find(',');
    if (first != std::string_view::npos && text[first] == '"') {
      std::size_t at = first + 1;
      for (; at < text.size(); ++at) {
        if (text[at] == '"' && (at + 1 == text.size() || text[at + 1] != '"'))
          break;
        if (text[at] == '"') ++at;  // two of them are one
        word += text[at];
      }
      end = text.find(',', at);
      const std::size_t rest = text.find_first_not_of(" \t", at + 1);
      if (at >= text.size() || (rest != std::string_view::npos && rest != end))
        throw Error{Code::kUsage,
                    std::string(option) +
                        (at >= text.size() ? ": a quote is not closed in '"
                                           : ": text after a quote in '") +
                        std::string(text) + "'"};
    } else {
      word = trim(text.substr(0, end));
    }
    words.push_back(std::move(word));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::string list_word(std::string_view word) {
  if (!word.starts_with('"') && word.find(',') == std::string_view::npos)
    return std::string(word);
  std::string quoted = "\"";
  for (const char c : word) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

bool parse_integer(std::string_view text, std::int64_t& value) {
  return parse_whole(text, value) == std::errc{};
}

bool parse_number(std::string_view text, double& value) {
  if (parse_short_decimal(text, value)) return true;
  const std::errc error = parse_whole(text, value);
  if (error != std::errc::result_out_of_range) return error == std::errc{};
  value = std::strtod(std::string(text).c_str(), nullptr);
  return true;
}

bool is_long_integer(std::string_view text, double value) {
  return std::abs(value) >= kMostExactInteger &&
         text.find_first_not_of("+-0123456789") == std::string_view::npos;
}

std::string_view number_text(double value, std::array<char, 32>& memory) {
  const auto end = std::to_chars(memory.data(), memory.data() + memory.size(),
                                 value == 0 ? 0 : value)
                       .ptr;
  return {memory.data(), static_cast<std::size_t>(end - memory.data())};
}

bool parse_truth(std::string_view text, double& value) {
  const bool yes = text == "True" || text == "TRUE" || text == "true";
  value = yes ? 1 : 0;
  return yes || text == "False" || text == "FALSE" || text == "false";
}

std::string not_utf8(const char* what, std::string_view text) {
  return std::string(what) + " '" + clipped(text) +
         "' is not UTF-8 text; if it is Latin-1 or windows-1252, say so: "
         "--encoding latin1 of tables, \"encoding\" in a recipe, else "
         "'pipe:iconv -f latin1 -t UTF-8 FILE'";
}

std::string not_text(const char* what, std::string_view text) {
  if (!is_utf8(text)) return not_utf8(what, text);
  if (text.find('\0') == std::string_view::npos) return "";
  return std::string(what) + " '" + clipped(text) +
         "' has a zero byte, which text has not";
}

tensor::Shape parse_shape(std::string_view text) {
  std::vector<std::int64_t> extents;
  for (const std::string& part : split(text, ',')) {
    std::int64_t extent = 0;
    if (!parse_integer(part, extent) || extent < 1 || extent > INT32_MAX)
      throw Error{Code::kUsage, "--shape: want extents such as 28,28,1, got '" +
                                    displayed(text) + "'"};
    extents.push_back(extent);
  }
  try {
    return tensor::Shape(std::span<const std::int64_t>(extents));
  } catch (const Error& error) {
    throw Error{Code::kUsage, std::string("--shape: ") + error.what()};
  }
}

tensor::DType parse_dtype(std::string_view text) {
  using tensor::DType;
  for (DType type : {DType::kU8, DType::kI8, DType::kI16, DType::kI32,
                     DType::kI64, DType::kF32, DType::kF64}) {
    std::string name(tensor::name_of(type));
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
    if (text == name) return type;
  }
  throw Error{Code::kUsage,
              "--dtype: want u8, i8, i16, i32, i64, f32 or f64, got '" +
                  displayed(text) + "'"};
}

std::string does_not_fit(std::string_view text, tensor::DType type) {
  return "'" + clipped(text) + "' does not fit " + std::string(name_of(type)) +
         (type == tensor::DType::kF64 ? ", of which statistics want 1e140 at "
                                        "most"
                                      : "");
}

bool store(tensor::Tensor& target, std::int64_t i, double value) {
  return tensor::visit_dtype(target.dtype(), [&]<typename T>() {
    if (!std::isfinite(value)) return false;
    if constexpr (std::is_integral_v<T>) {
      // 2^63 itself is a double but no int64: compare below the next power.
      const double lowest = static_cast<double>(std::numeric_limits<T>::min());
      const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (value != std::floor(value) || value < lowest || value >= end)
        return false;
    } else if (std::abs(value) >
               std::min(static_cast<double>(std::numeric_limits<T>::max()),
                        data::kMaxStatisticsValue)) {
      return false;
    }
    target.as<T>()[static_cast<std::size_t>(i)] = static_cast<T>(value);
    return true;
  });
}

}  // namespace dl::vectorize
