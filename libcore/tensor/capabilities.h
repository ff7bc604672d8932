// What is to be known of a device beside what it does.

#ifndef DL_LIBCORE_TENSOR_CAPABILITIES_H_
#define DL_LIBCORE_TENSOR_CAPABILITIES_H_

#include <cstdint>

namespace dl::tensor {

struct Capabilities {
  // It spreads work by itself: lanes are to be one.
  bool one_lane = false;
  // Precisions beside float32 that it holds frozen weights in.
  bool bfloat16 = false;
  // Parameters that update() is best given at a time: 64 KiB in float32, in the
  // smallest caches of the second level with room for another lane's.
  std::int64_t piece = 16384;
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_CAPABILITIES_H_
