#include "libcore/data/contact_sheet.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/io/png_write.h"
#include "libcore/io/sink.h"

namespace dl::data {
namespace {

constexpr std::int64_t kGap = 4;     // between pictures, and around them
constexpr std::int64_t kLeast = 96;  // pixels of a picture's longer side
constexpr std::uint8_t kPaper = 255;

}  // namespace

ContactSheet::ContactSheet(const tensor::Shape& shape, std::int64_t rows,
                           std::int64_t columns)
    : height_(shape[0]),
      width_(shape[1]),
      channels_(shape[2]),
      factor_(std::max<std::int64_t>(1, kLeast / std::max(height_, width_))),
      sheet_width_(columns * (width_ * factor_ + kGap) + kGap),
      sheet_height_(rows * (height_ * factor_ + kGap) + kGap),
      shown_(channels_ == 3 ? 3 : 1),
      sheet_(static_cast<std::size_t>(sheet_width_ * sheet_height_ * shown_),
             kPaper) {}

void ContactSheet::put(std::int64_t row, std::int64_t column,
                       std::span<const std::uint8_t> pixels) {
  require(std::cmp_equal(pixels.size(), height_ * width_ * channels_),
          "a picture of another size");
  const std::int64_t top = kGap + row * (height_ * factor_ + kGap),
                     left = kGap + column * (width_ * factor_ + kGap);
  for (std::int64_t y = 0; y < height_ * factor_; ++y) {
    std::uint8_t* out =
        sheet_.data() + ((top + y) * sheet_width_ + left) * shown_;
    for (std::int64_t x = 0; x < width_ * factor_; ++x) {
      const std::int64_t from =
          (y / factor_ * width_ + x / factor_) * channels_;
      for (std::int64_t c = 0; c < shown_; ++c)
        *out++ = pixels[static_cast<std::size_t>(from + c)];
    }
  }
}

void ContactSheet::write(const std::string& path) const {
  const auto sink = io::open_sink(path);
  io::write_png(*sink, sheet_width_, sheet_height_, shown_, sheet_);
  sink->close();
}

}  // namespace dl::data
