// Threshold coding.  Each block counts what reaches the threshold in a stretch
// of its own, the counts are added up, and each writes its places from where
// those of the blocks before it end: in ascending order, whoever is first.

#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/grid.h"
#include "libcore/device/cuda/reduce.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::View;

namespace {

constexpr std::int64_t kEach = 4;  // elements of a thread, side by side

// What a thread looks at.
struct Stretch {
  std::int64_t begin, end;
  DL_DEVICE Stretch(const Block& b, std::int64_t n) {
    const std::int64_t at = (b.index * b.threads + b.thread) * kEach;
    begin = at < n ? at : n;
    end = begin + kEach < n ? begin + kEach : n;
  }
  DL_DEVICE std::int32_t count(const float* r, float threshold) const {
    std::int32_t found = 0;
    for (std::int64_t i = begin; i < end; ++i)
      found += std::fabs(r[i]) >= threshold ? 1 : 0;
    return found;
  }
};

struct CountBlocks {
  std::int64_t n;
  const float* r;
  float threshold;
  std::int32_t* counts;  // a block each
  DL_DEVICE void operator()(const Block& b) const {
    const std::int32_t all =
        reduce(b, Stretch(b, n).count(r, threshold), Sum{});
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
  std::int64_t n;
  float* r;
  float threshold;
  const std::int32_t* begins;  // a block each
  std::int32_t* places;
  DL_DEVICE void operator()(const Block& b) const {
    const Stretch mine(b, n);
    std::int32_t at = begins[b.index] + sum_before(b, mine.count(r, threshold));
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      const float size = std::fabs(r[i]);
      if (!(size >= threshold)) continue;
      const auto place = static_cast<std::int32_t>(i);
      places[at++] = r[i] < 0 ? ~place : place;
      r[i] = std::copysign(size - threshold, r[i]);
    }
  }
};

}  // namespace

void CudaDevice::threshold_encode(View places, View count, View r,
                                  float threshold) {
  check_threshold(DType::kF32, places, count, r);
  const std::int64_t n = r.elements();
  const std::int64_t in_block =
      kEach * std::min(kThreads, stream_.most_threads());
  const std::int64_t parts = (n + in_block - 1) / in_block;
  auto* const counts = stream_.scratch<std::int32_t>(parts);
  blocks(stream_, parts, kThreads, sizeof(std::int32_t),
         CountBlocks{n, r.as<float>(), threshold, counts});
  blocks(stream_, 1, kMostThreads, sizeof(std::int32_t),
         PlaceBlocks{parts, counts, count.as<std::int32_t>()});
  blocks(stream_, parts, kThreads, sizeof(std::int32_t),
         TakeQuanta{n, r.as<float>(), threshold, counts,
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
