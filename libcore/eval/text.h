// Numbers and tables for people, without a locale.

#ifndef DL_LIBCORE_EVAL_TEXT_H_
#define DL_LIBCORE_EVAL_TEXT_H_

#include <ostream>
#include <string>
#include <vector>

namespace dl::eval {

// The shortest digits that read back as the same value: "0.1", "-3", "nan".
std::string shortest(double value);
std::string shortest(float value);
// Four decimals ("0.9123"), scientific where those would say nothing
// ("1.234e-07"), "-" for NaN.
std::string readable(double value);

// Rows of cells in columns as wide as their widest cell; the first column is
// flush left, the others flush right.  Cells are UTF-8.  The first row is the
// heading.
using Table = std::vector<std::vector<std::string>>;
void print(std::ostream& out, Table table);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_TEXT_H_
