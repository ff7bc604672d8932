// The kinds of parts that a formula has.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_NODES_H_
#define DL_LIBCORE_VECTORIZE_STEPS_NODES_H_

#include <string>
#include <vector>

#include "libcore/vectorize/steps/functions.h"

namespace dl::vectorize {

FormulaPart column_part(const StepColumn& column);
FormulaPart number_part(double number);
FormulaPart text_part(std::string text);
// Throws Error: kConfig, the arguments are too few, or of types that it does
// not take.  called: as the formula has it.
FormulaPart call_part(const FormulaFunction& function,
                      std::vector<FormulaPart> arguments,
                      const std::string& called);
// matches(text, 'pattern') and extract(text, 'pattern').
bool is_pattern_function(std::string_view name);
FormulaPart pattern_part(const std::string& name,
                         std::vector<FormulaPart> arguments);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_NODES_H_
