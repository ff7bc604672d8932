// A sheet of pictures in rows and columns, for people to look at.

#ifndef DL_LIBCORE_DATA_CONTACT_SHEET_H_
#define DL_LIBCORE_DATA_CONTACT_SHEET_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcore/tensor/shape.h"

namespace dl::data {

class ContactSheet {
 public:
  // shape: of each picture, [height, width, channels]; of other numbers of
  // channels than 1 and 3 the first is shown, in grey.  Small pictures are
  // enlarged by a whole factor.
  ContactSheet(const tensor::Shape& shape, std::int64_t rows,
               std::int64_t columns);
  void put(std::int64_t row, std::int64_t column,
           std::span<const std::uint8_t> pixels);
  // Throws Error: kCantCreate, kIo.
  void write(const std::string& path) const;

 private:
  std::int64_t height_, width_, channels_, factor_, sheet_width_, sheet_height_;
  std::int64_t shown_;  // channels of the sheet
  std::vector<std::uint8_t> sheet_;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_CONTACT_SHEET_H_
