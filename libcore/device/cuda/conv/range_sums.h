// Sums of what ranges of positions add to the gradient of weights.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_RANGE_SUMS_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_RANGE_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

struct RangeSum {
  const float* partial;
  std::int64_t n;
  DL_DEVICE float operator()(std::int64_t range, std::int64_t i) const {
    return partial[range * n + i];
  }
};
template <class Put>
struct PutRangeSum {
  Put put;
  DL_DEVICE void operator()(std::int64_t, std::int64_t i, float sum) const {
    put(i, sum);
  }
};

// put(i, partial[0][i] + partial[1][i] + ..); partial: [ranges, n], which may
// be the scratch.
template <class Put>
void sum_ranges(Stream& stream, const float* partial, std::int64_t ranges,
                std::int64_t n, const Put& put) {
  const unsigned threads = std::min(kThreads, stream.most_threads());
  // Few weights make few blocks: of fewer columns, and more rows at a time.
  const unsigned wide = std::min(n < 4096 ? 8U : 32U, threads);
  const std::int64_t tiles = (n + wide - 1) / wide;
  blocks(stream, tiles, threads, sizeof(float),
         SumColumns<float, RangeSum, PutRangeSum<Put>>{
             ranges, n, tiles, ranges, wide, {partial, n}, {put}});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_RANGE_SUMS_H_
