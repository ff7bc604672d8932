// The functions of formulas: each with its arguments, type and words.  The
// checks, the messages and dl-recipe(5) come of this table.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_FUNCTIONS_H_
#define DL_LIBCORE_VECTORIZE_STEPS_FUNCTIONS_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/vectorize/steps/formula.h"

namespace dl::vectorize {

// The arguments of a call, each of which is worked out when it is asked for.
class Arguments {
 public:
  Arguments(std::span<const FormulaPart> parts, Cells row, Scratch& scratch)
      : parts_(parts), row_(row), scratch_(scratch) {}
  std::size_t size() const { return parts_.size(); }
  Value operator[](std::size_t i) const {
    return parts_[i]->run(row_, scratch_);
  }
  ValueType type(std::size_t i) const { return parts_[i]->type(); }
  Scratch& scratch() const { return scratch_; }

 private:
  std::span<const FormulaPart> parts_;
  Cells row_;
  Scratch& scratch_;
};

struct FormulaFunction {
  std::string_view name;       // "substring"
  std::string_view arguments;  // as the page has them: "text, from, length"
  std::string_view words;      // its purpose, as dl-recipe(5) has it
  ValueType gives;             // kAny: the type that its kAny arguments share
  // Types of the arguments; kAny: any, but one in all of them.
  std::vector<ValueType> wants;
  std::size_t least;     // arguments
  bool repeats = false;  // the last argument may come any number of times
  Value (*run)(const Arguments& arguments);
};

// Null if there is none.
const FormulaFunction* find_function(std::string_view name);
std::span<const FormulaFunction> formula_functions();
std::span<const FormulaFunction> text_functions();
// Operators, as "+" and "and", by their names.
const FormulaFunction& find_operator(std::string_view name);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_FUNCTIONS_H_
