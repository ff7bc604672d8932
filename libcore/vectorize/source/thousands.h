// Numbers with commas between thousands: 1,234.5 is 1234.5.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_THOUSANDS_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_THOUSANDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dl::vectorize {

// The number without them, "1234.5" of "1,234.5"; "" of a text that is no
// number with a comma before each group of three digits, or begins with 0, as
// 0,250 does.
std::string without_thousands(std::string_view text);

// Whether the number cannot be one with a decimal comma instead, as 1,234 can:
// it has several groups, or digits behind a point.
bool are_surely_thousands(std::string_view text);

// Whether the text is a number but for its commas, which separate no
// thousands: 3,14, 12,34 or 0,250.
bool has_other_commas(std::string_view text);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_THOUSANDS_H_
