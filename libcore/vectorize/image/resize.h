// Resizing, equal to that of Pillow 13 to the bit.
//
// Each filter is stretched by the ratio when the picture shrinks (antialiasing)
// and its weights sum to 1 within the picture.  They are made in float64 and
// rounded to 22 bits behind the point; rows are resized first, rounded to 8
// bits, then columns; but columns first where the height shrinks by more than
// twice what the width does, as Pillow has it since version 13.  Nearest takes
// the pixel below the center.

#ifndef DL_LIBCORE_VECTORIZE_IMAGE_RESIZE_H_
#define DL_LIBCORE_VECTORIZE_IMAGE_RESIZE_H_

#include <cstdint>
#include <vector>

#include "libcore/vectorize/image/picture.h"

namespace dl::vectorize {

enum class Filter { kNearest, kBilinear, kBicubic, kLanczos };

constexpr int kWeightBits = 22;

// Each number of a row or column becomes a sum of `size` numbers from
// `first` on, multiplied by weights.
struct Weights {
  struct Sum {
    std::int32_t first, size;
  };
  std::vector<Sum> sums;
  // Weights of sum i from i * each on, in units of 2^-kWeightBits, with a 0
  // behind.
  std::vector<std::int32_t> values;
  std::int64_t each = 0;
  // The same in two halves of 16 bits, from i * each_half on: of each four the
  // upper halves, then the lower ones, with zeros behind.
  static constexpr int kLowerBits = 11;
  std::vector<std::int16_t> halves;
  std::int64_t each_half = 0;
};

// Keeps buffers, and weights, from one picture to the next; used by one thread
// at a time.
class Resizer {
 public:
  // in and out are different pictures.
  void resize(const Picture& in, std::int64_t width, std::int64_t height,
              Filter filter, Picture& out);

 private:
  struct Side {
    std::int64_t from = 0, to = 0;
    Filter filter = Filter::kNearest;
    Weights weights;
    const Weights& of(std::int64_t from, std::int64_t to, Filter filter);
  };
  Side across_, down_;
  Picture between_;
  std::vector<std::uint8_t> row_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_IMAGE_RESIZE_H_
