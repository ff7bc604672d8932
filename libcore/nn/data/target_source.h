// Targets that are what went in: an input, or columns of one.

#ifndef DL_LIBCORE_NN_DATA_TARGET_SOURCE_H_
#define DL_LIBCORE_NN_DATA_TARGET_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"

namespace dl::nn {

// Columns of the last dimension of an input, `columns` long: `width` columns
// from `first` on.
struct TargetSource {
  std::size_t input = 0;
  std::int64_t first = 0, width = 0, columns = 0;
  bool whole() const { return width == columns; }
  // Where number i of such a target lies among the numbers of the input.
  std::int64_t place(std::int64_t i) const {
    return i / width * columns + first + i % width;
  }
};

// None: the value is another than an input or a `subset` of one's last axis.
std::optional<TargetSource> target_source(const NetworkConfig& config,
                                          Value target);

// The part of an input's normalizer for these columns.
data::Normalizer part_of(const data::Normalizer& whole,
                         const TargetSource& source);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_TARGET_SOURCE_H_
