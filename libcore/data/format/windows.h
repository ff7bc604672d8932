// Windows of a series: examples that overlap, each a part of the rows that a
// record stores once.
//
// The tensor "series" of a record has the rows; the tensors of an example
// ("features", "labels") are cut of its window when a mini-batch is made.

#ifndef DL_LIBCORE_DATA_FORMAT_WINDOWS_H_
#define DL_LIBCORE_DATA_FORMAT_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

constexpr const char* kSeriesName = "series";

// Throws Error: kData, the schema has windows without a series, or of rows or
// columns that it does not have.
void check_windows(const std::map<std::string, Field>& schema);

// Takes "series" and "series.windows" of a record as it was stored.
// Throws Error: kData, they are damaged, or not as the schema says.
Encoded take_series(DataSet& set, const Field& field);

// "series.windows" of a record: I64 [runs, 3], first row, rows to the next
// window, windows.
tensor::Tensor windows_of(const Encoded& series);

// Says in `set` which of its tensors are windows of its series.
void add_views(DataSet& set, const std::map<std::string, Field>& schema);

// Cuts the tensor `view` of window i.
// Throws Error: kData, a class number is none.
void cut_window(const Encoded& series, const WindowView& view, std::int64_t i,
                std::span<std::byte> out);
// Cuts set.views of all windows into set.tensors.  Throws as cut_window().
// limit: of the bytes of a tensor.
void cut_windows(DataSet& set, std::uint64_t limit);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_WINDOWS_H_
