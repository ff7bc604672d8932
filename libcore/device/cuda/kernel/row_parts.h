// Rows, each looked at by a part of a block: long ones by all of its threads,
// short ones by a few, so that none are idle.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_ROW_PARTS_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_ROW_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

template <class Row>
struct EachRow {
  std::int64_t rows, length;
  unsigned threads;
  Row row;
  DL_DEVICE void operator()(const Block& b) const {
    const Block part = part_of(b, threads, Row::kShared);
    // A part that has no row goes along with those that have.
    row(part, part.index * length, part.index < rows ? length : 0);
  }
};

// row(part, offset, length) for each row, where Row::kShared is how many bytes
// a thread needs.  A length of 0 is no row: nothing is to be read or written.
template <class Row>
void each_row(Stream& stream, const Rows& rows, const Row& row) {
  const unsigned threads = part_for(stream, rows.length);
  const std::int64_t in_block =
      std::min(kThreads, stream.most_threads()) / threads;
  blocks(stream, (rows.count + in_block - 1) / in_block, kThreads, Row::kShared,
         EachRow<Row>{rows.count, rows.length, threads, row});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_ROW_PARTS_H_
