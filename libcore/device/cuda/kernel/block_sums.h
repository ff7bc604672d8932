// A number to which a kernel adds what its threads found on the way: each block
// leaves a sum, and these are added in their order.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_BLOCK_SUMS_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_BLOCK_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

// Enough to keep a GPU busy, of kThreads each.
constexpr std::int64_t kMostSums = 1024;

struct BlockSums {
  double* number;  // null: nobody asks for it
  double scale;
  double* sums;

  // Once in every thread.  Shared memory: a double for each.
  DL_DEVICE void take(const Block& b, double mine) const {
    if (number == nullptr) return;
    const double sum = reduce(b, mine, Sum{});
    if (b.thread != 0) return;
    if (b.count == 1)
      *number += scale * sum;
    else
      sums[b.index] = sum;
  }
};

struct AddBlockSums {
  BlockSums of;
  std::int64_t count;
  DL_DEVICE void operator()(const Block& b) const {
    double mine = 0;
    for (std::int64_t i = b.thread; i < count; i += b.threads)
      mine += of.sums[i];
    of.take(b, mine);
  }
};

// number += scale * the sum of what the kernel gives to its `sums`.  shared:
// bytes for each thread.  Its work is in `parts`, which are as many blocks or,
// where they are many, are dealt out to fewer.
template <class Kernel>
void add_to_number(Stream& stream, double* number, double scale,
                   std::int64_t parts, std::size_t shared, Kernel kernel) {
  const std::int64_t count = std::min(parts, kMostSums);
  kernel.sums = {number, scale, stream.scratch<double>(count)};
  blocks(stream, count, kThreads, shared, kernel);
  if (number != nullptr && count > 1)
    blocks(stream, 1, kThreads, sizeof(double),
           AddBlockSums{kernel.sums, count});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_BLOCK_SUMS_H_
