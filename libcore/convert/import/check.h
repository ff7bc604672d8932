// An imported model beside what the other program said.

#ifndef DL_LIBCORE_CONVERT_IMPORT_CHECK_H_
#define DL_LIBCORE_CONVERT_IMPORT_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/convert/import/arrays.h"
#include "libcore/convert/import/import.h"

namespace dl::convert {

struct Difference {
  std::string output;
  std::int64_t examples = 0;
  double largest = 0;    // of two numbers
  double magnitude = 0;  // the largest finite number that was recorded

  // As numpy.allclose() has it, with the largest number for all.
  bool within(double relative, double absolute) const {
    return largest <= absolute + relative * magnitude;
  }
};

// Runs the model, which has weights, on the arrays of its inputs, and compares
// with those of its outputs: each by its name, "x" and "y" standing for an only
// input and output.  recorded may lack outputs, but not all.  Steps of a
// sequence that are padding do not count.
// Throws Error: kData, arrays are missing or do not fit.
std::vector<Difference> compare(const Imported& imported, const Arrays& inputs,
                                const Arrays& recorded);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_CHECK_H_
