// Small pieces of text reading: numbers without locale, lists.

#ifndef DL_LIBCORE_VECTORIZE_TEXT_H_
#define DL_LIBCORE_VECTORIZE_TEXT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/shape.h"
#include "libcore/tensor/tensor.h"

namespace dl::vectorize {

std::string_view trimmed(std::string_view text);  // of blanks and tabs
// The same, of a text that hardly ever has them.
inline std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  return text.empty() || (!is_blank(text.front()) && !is_blank(text.back()))
             ? text
             : trimmed(text);
}
std::vector<std::string> split(std::string_view text, char separator);
// The words of a list with commas, as "a,b"; one that has a comma, or a quote
// at its start, stands in quotes as in CSV: 'a,"b, c"'.
// option: what the list was given to.  Throws Error: kUsage, a quote is wrong.
std::vector<std::string> split_list(std::string_view text, const char* option);
// The word as split_list() reads it.
std::string list_word(std::string_view word);

// The whole text, else false.  A number may have a sign; "nan" and "inf" are
// numbers here, for the caller to refuse; of one too large for a double it is
// infinity, of one too small 0.
bool parse_integer(std::string_view text, std::int64_t& value);
bool parse_number(std::string_view text, double& value);

// Whether a text is an integer that a double may round: from 2^53 on.
inline constexpr double kMostExactInteger = 9007199254740992;
bool is_long_integer(std::string_view text, double value);

// The text of a number in the fewest digits that give it again, of -0 as of 0.
std::string_view number_text(double value, std::array<char, 32>& memory);

// True and false as pandas and R write them: 1 and 0.
bool parse_truth(std::string_view text, double& value);

// "the class is not UTF-8 text, as 'caf?'; ..." with the remedy; `what` is it.
std::string not_utf8(const char* what, std::string_view text);
// The same, or that a zero byte is in it; "": it is text.
std::string not_text(const char* what, std::string_view text);

// "8,8,1".  Throws Error{kUsage}.
tensor::Shape parse_shape(std::string_view text);

// "u8", "f32", ...  Throws Error{kUsage}.
tensor::DType parse_dtype(std::string_view text);

// Stores a number as element i; false if the tensor's type cannot hold it
// (a fraction in an integer, out of range, not finite), or no statistics could
// be made of it.
bool store(tensor::Tensor& target, std::int64_t i, double value);
// The sentence about it.
std::string does_not_fit(std::string_view text, tensor::DType type);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TEXT_H_
