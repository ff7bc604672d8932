// Numbers as much of Europe writes them: 1.234,5 is 1234.5.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_DECIMAL_COMMA_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_DECIMAL_COMMA_H_

#include <string>
#include <string_view>

namespace dl::vectorize {

// The number with a point, "1234.5" of "1.234,5"; "" of a text that is no
// number with a comma, or with points between thousands.
std::string with_decimal_point(std::string_view text);

// Whether the text is a number with a decimal point, as no number of a table
// with decimal commas is: 1.5, but not 1.500, which is 1500 there.
bool has_decimal_point(std::string_view text);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_DECIMAL_COMMA_H_
