// The words of a formula.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_TOKENS_H_
#define DL_LIBCORE_VECTORIZE_STEPS_TOKENS_H_

#include <string>
#include <string_view>
#include <vector>

namespace dl::vectorize {

struct Token {
  enum Kind { kNumber, kText, kName, kColumn, kSign, kEnd } kind = kEnd;
  std::string text;  // of a text or a column what its quotes hold
  double number = 0;
  std::size_t place = 0;  // of its first byte in the formula, from 1
};

// The last one is kEnd.
// Throws Error: kConfig, a quote is not closed, or a byte begins no word.
std::vector<Token> tokens_of(std::string_view formula);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_TOKENS_H_
