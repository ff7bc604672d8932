// Values of formulas: records hold texts, of which a formula makes numbers,
// dates and truths where it wants them.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_VALUE_H_
#define DL_LIBCORE_VECTORIZE_STEPS_VALUE_H_

#include <deque>
#include <string>
#include <string_view>

namespace dl::vectorize {

enum class ValueType {
  kAny,  // a text of the input, which may stand for any of the others
  kNumber,
  kText,
  kTruth,
  kDate
};
// "a number"
std::string_view name_of(ValueType type);

struct Value {
  bool missing = true;
  double number = 0;  // of a truth 1 or 0, of a date its seconds since 1970
  std::string_view text = {};

  static Value of_number(double number) { return {false, number}; }
  // One that is not finite is missing.
  static Value of_result(double number);
  static Value of_text(std::string_view text) {
    return {text.empty(), 0, text};
  }
  static Value of_truth(bool truth) { return {false, truth ? 1.0 : 0.0}; }
};

// Texts that a formula makes, valid until the next use.
class Scratch {
 public:
  void reset() { used_ = 0; }
  std::string& next() {
    if (used_ == texts_.size()) texts_.emplace_back();
    std::string& text = texts_[used_++];
    text.clear();
    return text;
  }

 private:
  std::deque<std::string> texts_;
  std::size_t used_ = 0;
};

// The value that a text stands for; an empty one is missing.
// Throws Error: kData, it stands for none of this type: "want a number, got
// 'x'".
Value value_of(std::string_view text, ValueType type);
// The text of a value, as records have it: a number in the fewest digits that
// give it again, a date as 2024-12-31 or 2024-12-31 17:05:09, true or false.
std::string_view text_of(const Value& value, ValueType type, Scratch& scratch);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_VALUE_H_
