// Targets that a loss has no use for.

#ifndef DL_LIBCORE_NN_DATA_TARGET_RANGE_H_
#define DL_LIBCORE_NN_DATA_TARGET_RANGE_H_

#include <limits>
#include <span>

#include "libcore/nn/data/batch.h"

namespace dl::nn {

// Where targets of the loss may lie, at most; of some not every number there.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
Bounds bounds_of(device::Loss loss);

// Checks the range of labels that are otherwise right, and numbers rather than
// classes. An example, or a step, whose mask is 0 is not looked at, nor what is
// padding in the inputs that the output has its mask from. Throws Error: kData,
// "example 3 has the target -1, 'poisson' wants 0 or more".
void check_targets(const Part& labels, const WantedOutput& wanted,
                   std::span<const Part> inputs);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_TARGET_RANGE_H_
