// From a picture of any size to one of a given size.

#ifndef DL_LIBCORE_VECTORIZE_IMAGE_FIT_H_
#define DL_LIBCORE_VECTORIZE_IMAGE_FIT_H_

#include <cstdint>

#include "libcore/vectorize/image/picture.h"
#include "libcore/vectorize/image/resize.h"

namespace dl::vectorize {

enum class Fit {
  kCrop,    // resized to cover the size, and the middle taken
  kPad,     // resized to lie within it, and black added on both sides
  kStretch  // resized to it, whatever becomes of its proportions
};

struct FitOptions {
  std::int64_t width = 0, height = 0;
  Fit fit = Fit::kCrop;
  Filter filter = Filter::kBilinear;
  // kCrop: the length of the shorter side before the middle is taken; 0: as
  // little as covers the size.
  std::int64_t shorter = 0;
};

struct PictureSize {
  std::int64_t width, height;
};
// The size that the picture is resized to before it is cropped or padded.
PictureSize resized_to(std::int64_t width, std::int64_t height,
                       const FitOptions& options);

// Used by one thread at a time.
class Fitter {
 public:
  explicit Fitter(const FitOptions& options) : options_(options) {}
  // Writes the pixels [height, width, channels] to `out`.
  void fit(const Picture& in, std::uint8_t* out);

 private:
  FitOptions options_;
  Resizer resizer_;
  Picture resized_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_IMAGE_FIT_H_
