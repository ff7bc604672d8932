// The pieces of a line of ARFF, Weka's format: words in quotes or not, between
// commas.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_ARFF_TEXT_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_ARFF_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace dl::vectorize {

struct ArffWord {
  std::string text;
  bool is_quoted = false;
  bool is_missing() const { return !is_quoted && text == "?"; }
};

// Takes a word off the front of `line`, up to a blank or one of `ends`, in '
// or " where it begins so, with \ before a quote within.
// Throws Error: kData, "a quote is not closed".
ArffWord take_arff_word(std::string_view& line, std::string_view ends);

// The words between commas, of a row or of the values of an attribute.
// Throws Error: kData, as above, or "text after a closing quote".
std::vector<ArffWord> arff_words(std::string_view line);

// An attribute, as its line in the header declares it.
struct ArffAttribute {
  std::string name;
  enum class Kind { kNumber, kText, kDate, kNominal } kind = Kind::kNumber;
  std::vector<std::string> values = {};  // of a nominal one
};
// line: behind "@attribute".
// Throws Error: kData, it is none, or one that is not read.
ArffAttribute arff_attribute(std::string_view line);

// Whether a line begins with "@relation" or such a word, in any case, whose
// rest it becomes.
bool take_arff_keyword(std::string_view& line, std::string_view keyword);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_ARFF_TEXT_H_
