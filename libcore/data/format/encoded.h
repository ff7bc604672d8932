// Stored form of a tensor whose examples are of different lengths: pictures
// that stay JPEG, sequences without their padding.

#ifndef DL_LIBCORE_DATA_FORMAT_ENCODED_H_
#define DL_LIBCORE_DATA_FORMAT_ENCODED_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace dl::data {

enum class Encoding {
  kNone,    // the values of an example, as many as its shape says
  kJpeg,    // a JPEG file, U8, of a picture [height, width, channels]
  kRagged,  // the steps of a sequence, as many as it has
  kSeries,  // some of the rows of a series, which examples share
  kWindow   // none: a part of these rows, windows.h
};
std::string_view name_of(Encoding encoding);  // "jpeg"; "" of kNone
// Throws Error: kData, there is none of that name.
Encoding encoding_named(const std::string& name);

// Windows of a series that begin at rows first, first + step, ...
struct WindowRun {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t before = 0;  // windows of the runs before it
};

// The part of the rows of a series' windows that a tensor has.
struct Window {
  std::int64_t first = 0;             // row of the window
  std::vector<std::int64_t> columns;  // of a row
  bool operator==(const Window&) const = default;
};

// A tensor that is cut of the windows of a series.
struct WindowView {
  tensor::DType dtype = tensor::DType::kF32;
  tensor::Shape shape;  // of one example
  Window window;
};

// The values of a record's examples, one after the other.
struct Encoded {
  Encoding encoding = Encoding::kNone;
  tensor::DType dtype = tensor::DType::kU8;
  tensor::Shape value;  // of one: [] of the bytes of a file, else of a step
  std::vector<std::byte> bytes;
  // Places of each example's first value, and the end of the last: rising from
  // 0.
  std::vector<std::int64_t> offsets = {0};
  // In a series, in their place: rows of a window, and where each begins.
  std::int64_t steps = 0;
  std::vector<WindowRun> runs = {};

  std::int64_t examples() const;
  std::int64_t values() const {
    return static_cast<std::int64_t>(bytes.size() / value_bytes());
  }
  std::size_t value_bytes() const {
    return static_cast<std::size_t>(value.elements()) * tensor::size_of(dtype);
  }
  std::span<const std::byte> example(std::int64_t i) const;
  // Rows that a window has in common with the last one are not stored again.
  void append(std::span<const std::byte> example);
  // Examples [begin, end), copied.
  Encoded slice(std::int64_t begin, std::int64_t end) const;
  // Adds `count` windows of a series, `step` rows from one to the next, whose
  // rows are stored already.
  void add_run(std::int64_t first, std::int64_t step, std::int64_t count);

 private:
  const WindowRun& run_of(std::int64_t i) const;
  void append_window(std::span<const std::byte> window);
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_FORMAT_ENCODED_H_
