// Numbers and bytes as hexadecimal digits, lower case.

#ifndef DL_LIBCORE_IO_HEX_H_
#define DL_LIBCORE_IO_HEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dl::io {

std::string hex(std::uint64_t value);  // 16 digits
std::string hex(std::span<const std::byte> bytes);

// 32 digits of the system's randomness: nobody else has them, or guesses them.
std::string random_digits();

// Nothing: it is not 16 digits; not pairs of digits.
std::optional<std::uint64_t> parse_hex(std::string_view digits);
std::optional<std::vector<std::byte>> parse_hex_bytes(std::string_view digits);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_HEX_H_
