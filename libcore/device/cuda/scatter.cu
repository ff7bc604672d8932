// Adding rows to those of a table.  So that the order does not depend on which
// thread is first, the places of equal rows are brought together by sorting.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

namespace {

// A row of the table, and a place in `index` that names it.  As numbers they
// are in the order of the rows, then of the places.
using Key = std::uint64_t;
DL_DEVICE inline Key key_of(std::int32_t row, std::int64_t place) {
  return Key{static_cast<std::uint32_t>(row)} << 32 |
         static_cast<std::uint32_t>(place);
}
DL_DEVICE inline std::int64_t row_of(Key key) {
  return static_cast<std::int64_t>(key >> 32);
}
DL_DEVICE inline std::int64_t place_of(Key key) {
  return static_cast<std::uint32_t>(key);
}

// Keys in runs of kRun that are sorted, by how many of a run are smaller.
constexpr std::int64_t kRun = 128;
void sort_runs(Stream& stream, Key* keys, const std::int32_t* index,
               std::int64_t n) {
  each(stream, n, [=] DL_DEVICE(std::int64_t i) {
    const std::int64_t begin = i - i % kRun;
    const std::int64_t end = begin + kRun < n ? begin + kRun : n;
    const Key mine = key_of(index[i], i);
    std::int64_t smaller = 0;
    for (std::int64_t k = begin; k < end; ++k)
      smaller += key_of(index[k], k) < mine ? 1 : 0;
    keys[begin + smaller] = mine;
  });
}

// Two runs become one: each key goes as far on as there are smaller ones in the
// other run.
void merge_runs(Stream& stream, Key* to, const Key* from, std::int64_t length,
                std::int64_t n) {
  each(stream, n, [=] DL_DEVICE(std::int64_t i) {
    const Key mine = from[i];
    const std::int64_t run = i / length, begin = (run ^ 1) * length;
    std::int64_t low = begin < n ? begin : n;
    std::int64_t high = begin + length < n ? begin + length : n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (from[middle] < mine)
        low = middle + 1;
      else
        high = middle;
    }
    const std::int64_t smaller = low - (begin < n ? begin : n);
    to[i - run % 2 * length + smaller] = mine;
  });
}

// The first of the keys from i on that is of another row.
DL_DEVICE inline std::int64_t end_of_row(const Key* keys, std::int64_t i,
                                         std::int64_t n) {
  const std::int64_t row = row_of(keys[i]);
  std::int64_t step = 1;
  while (i + step < n && row_of(keys[i + step]) == row) step *= 2;
  std::int64_t low = i + step / 2, high = i + step < n ? i + step : n;
  while (low + 1 < high) {
    const std::int64_t middle = (low + high) / 2;
    (row_of(keys[middle]) == row ? low : high) = middle;
  }
  return low + 1;
}

}  // namespace

void CudaDevice::scatter_add(View dtable, View dy, View index,
                             std::int32_t padding) {
  const Rows rows = check_gather(kReals, dy, dtable, index);
  const std::int64_t n = rows.count, length = rows.length;
  Key* keys = stream_.scratch<Key>(2 * n);
  Key* other = keys + n;
  sort_runs(stream_, keys, index.as<std::int32_t>(), n);
  for (std::int64_t run = kRun; run < n; run *= 2) {
    merge_runs(stream_, other, keys, run, n);
    std::swap(keys, other);
  }
  constexpr int kAtOnce = 16;  // are read before the first is added
  const Reals to(dtable), from(dy);
  const Key* const sorted = keys;
  each(stream_, n * length, [=] DL_DEVICE(std::int64_t e) {
    const std::int64_t first = e / length, c = e % length;
    const std::int64_t row = row_of(sorted[first]);
    if (row == padding || (first > 0 && row_of(sorted[first - 1]) == row))
      return;
    const std::int64_t end = end_of_row(sorted, first, n);
    double sum = to[row * length + c];
    std::int64_t k = first;
    for (; k + kAtOnce <= end; k += kAtOnce) {
      float next[kAtOnce];
      for (int q = 0; q < kAtOnce; ++q)
        next[q] = from[place_of(sorted[k + q]) * length + c];
      for (int q = 0; q < kAtOnce; ++q) sum += next[q];
    }
    for (; k < end; ++k) sum += from[place_of(sorted[k]) * length + c];
    to.set(row * length + c, static_cast<float>(sum));
  });
}

}  // namespace dl::device::cuda
