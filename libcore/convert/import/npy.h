// Arrays as NumPy writes them (.npy, NEP 1).

#ifndef DL_LIBCORE_CONVERT_IMPORT_NPY_H_
#define DL_LIBCORE_CONVERT_IMPORT_NPY_H_

#include <cstddef>
#include <span>

#include "libcore/tensor/tensor.h"

namespace dl::convert {

// Reads booleans, whole numbers and reals, in either order of bytes and of
// axes, as float32 in C's order. Throws Error: kData, no such file, or of
// another type.
tensor::Tensor read_npy(std::span<const std::byte> file);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_NPY_H_
