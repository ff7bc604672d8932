// Threshold coding.  Each block notes what reaches the threshold in a stretch
// of its own, their numbers are added up, and each writes its places from where
// those of the blocks before it end: in ascending order, whoever is first.  The
// residual is read once, as it is most of what is moved.

#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::View;

namespace {

constexpr int kEach = 16;  // elements of a thread, side by side, a bit each

// Result of a thread: its elements that reach the threshold.
struct Mark {
  std::int64_t n;
  const float* r;
  float threshold;
  bool in_packs;

  DL_DEVICE std::uint32_t operator()(std::int64_t first) const {
    std::uint32_t marks = 0;
    if (in_packs && first + kEach <= n) {
      DL_UNROLL
      for (int k = 0; k < kEach; k += 4) {
        const auto four =
            *reinterpret_cast<const Pack<float, 4>*>(r + first + k);
        DL_UNROLL
        for (int j = 0; j < 4; ++j)
          marks |= (std::fabs(four.at[j]) >= threshold ? 1U : 0U) << (k + j);
      }
      return marks;
    }
    for (int k = 0; k < kEach && first + k < n; ++k)
      marks |= (std::fabs(r[first + k]) >= threshold ? 1U : 0U) << k;
    return marks;
  }
};

// There are few.
DL_DEVICE inline std::int32_t bits_of(std::uint32_t marks) {
  std::int32_t count = 0;
  for (; marks != 0; marks &= marks - 1) ++count;
  return count;
}

struct CountBlocks {
  Mark mark;
  std::uint16_t* marks;  // a thread each
  std::int32_t* counts;  // a block each
  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t thread = b.index * b.threads + b.thread;
    const std::uint32_t found = mark(thread * kEach);
    marks[thread] = static_cast<std::uint16_t>(found);
    const std::int32_t all = reduce(b, bits_of(found), Sum{});
    if (b.thread == 0) counts[b.index] = all;
  }
};

// One block: counts become where the places of each begin.
struct PlaceBlocks {
  std::int64_t count;
  std::int32_t* counts;
  std::int32_t* bounds;
  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t each = (count + b.threads - 1) / b.threads;
    const std::int64_t first =
        each * b.thread < count ? each * b.thread : count;
    const std::int64_t last = first + each < count ? first + each : count;
    std::int32_t mine = 0;
    for (std::int64_t i = first; i < last; ++i) mine += counts[i];
    std::int32_t at = bounds[0] + sum_before(b, mine);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t here = counts[i];
      counts[i] = at;
      at += here;
    }
    if (b.thread == b.threads - 1) bounds[1] = at;
  }
};

struct TakeQuanta {
  float* r;
  float threshold;
  const std::uint16_t* marks;
  const std::int32_t* begins;  // a block each
  std::int32_t* places;
  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t thread = b.index * b.threads + b.thread;
    const std::uint32_t mine = marks[thread];
    std::int32_t at = begins[b.index] + sum_before(b, bits_of(mine));
    for (int k = 0; mine >> k != 0; ++k) {
      if ((mine >> k & 1U) == 0) continue;
      const std::int64_t i = thread * kEach + k;
      const float value = r[i];
      const auto place = static_cast<std::int32_t>(i);
      places[at++] = value < 0 ? ~place : place;
      r[i] = std::copysign(std::fabs(value) - threshold, value);
    }
  }
};

}  // namespace

void CudaDevice::threshold_encode(View places, View count, View r,
                                  float threshold) {
  check_threshold(DType::kF32, places, count, r);
  const std::int64_t n = r.elements();
  const std::int64_t threads = std::min(kThreads, stream_.most_threads());
  const std::int64_t in_block = kEach * threads;
  const std::int64_t parts = (n + in_block - 1) / in_block;
  auto* const counts =
      stream_.scratch<std::int32_t>(parts + (parts * threads + 1) / 2);
  auto* const marks = reinterpret_cast<std::uint16_t*>(counts + parts);
  blocks(
      stream_, parts, kThreads, sizeof(std::int32_t),
      CountBlocks{
          {n, r.as<float>(), threshold, Reals(r).in_packs(4)}, marks, counts});
  blocks(stream_, 1, kMostThreads, sizeof(std::int32_t),
         PlaceBlocks{parts, counts, count.as<std::int32_t>()});
  blocks(stream_, parts, kThreads, sizeof(std::int32_t),
         TakeQuanta{r.as<float>(), threshold, marks, counts,
                    places.as<std::int32_t>()});
}

void CudaDevice::threshold_apply(View y, View places, float quantum) {
  check_reals(DType::kF32, {y});
  check_integers(places);
  float* const to = y.as<float>();
  const std::int32_t* const from = places.as<std::int32_t>();
  each(stream_, places.elements(), [=] DL_DEVICE(std::int64_t i) {
    const std::int32_t place = from[i];
    to[place < 0 ? ~place : place] += place < 0 ? -quantum : quantum;
  });
}

}  // namespace dl::device::cuda
