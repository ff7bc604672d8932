// Arithmetic of DataVec, as formulas.

#ifndef DL_LIBCORE_VECTORIZE_DATAVEC_ARITHMETIC_H_
#define DL_LIBCORE_VECTORIZE_DATAVEC_ARITHMETIC_H_

#include <string>
#include <vector>

namespace dl::vectorize::datavec {

// "Add", ...; of integers a quotient is one.
// Throws Error: kData, there is none.
std::string math_op(const std::string& op, const std::string& a,
                    const std::string& b, bool of_integers);
// "SIN", ...
std::string math_function(const std::string& function, const std::string& a);
// A format of Joda, "YYYY-MM-dd HH:mm:ss", as strptime's.
std::string date_format(const std::string& joda);
// Days of a "timeQuantity" of a "timeUnit".
double days_of(double quantity, const std::string& unit);

}  // namespace dl::vectorize::datavec

#endif  // DL_LIBCORE_VECTORIZE_DATAVEC_ARITHMETIC_H_
