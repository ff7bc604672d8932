// A graph as text: a line for each input and layer, in the order in which they
// are computed, and beside it a column for each value that is still to be read.
//
//   *   image
//   *   conv1
//   |*  conv2     reads conv1, which is read again
//   */  add       reads both

#ifndef DL_LIBCORE_NN_DRAWING_H_
#define DL_LIBCORE_NN_DRAWING_H_

#include <string>
#include <vector>

#include "libcore/nn/config/config.h"

namespace dl::nn {

// Prefix of each input's and each layer's row, all of one width: "*" where it
// is itself, "|" values that are read further down, "/" those that it is the
// last to read.
std::vector<std::string> draw(const NetworkConfig& config);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DRAWING_H_
