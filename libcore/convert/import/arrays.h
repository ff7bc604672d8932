// Arrays that a model is checked with: what goes in, and what another program
// says comes out.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ARRAYS_H_
#define DL_LIBCORE_CONVERT_IMPORT_ARRAYS_H_

#include <map>
#include <string>

#include "libcore/tensor/tensor.h"

namespace dl::convert {

// By name, each [n, ...], float32.  An array without one has the name "x".
using Arrays = std::map<std::string, tensor::Tensor>;

// Reads arrays from an .npz or .npy file of NumPy, a table of numbers with
// commas between (then [n, columns]), or a DataSet stream, whose features are
// "x" or have their names, and whose labels are "y", or "labels/NAME". Throws
// Error: kNoInput; kData, it is none of these, or damaged.
Arrays read_arrays(const std::string& spec);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_ARRAYS_H_
