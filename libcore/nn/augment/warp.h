// Pictures whose pixels come from other places of them, by a matrix.

#ifndef DL_LIBCORE_NN_AUGMENT_WARP_H_
#define DL_LIBCORE_NN_AUGMENT_WARP_H_

#include "libcore/nn/augment/sample.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/settings.h"

namespace dl::nn::augment {

// A place of the new picture (x, y), (0.5, 0.5) the center of the first pixel,
// comes from (a x + b y + c, d x + e y + f) / (g x + h y + 1).
struct Matrix {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0, g = 0, h = 0;
};

// The matrix that turns the picture about its center (degrees, clockwise),
// scales it, shears it along x (degrees) and moves it, in pixels.
struct Affinity {
  double angle = 0, scale = 1, shear_x = 0, shear_y = 0;
  double right = 0, down = 0;
  // About its center, else about its upper left corner.
  bool centered = true;
};
Matrix matrix_of(const Affinity& affinity, const Picture& picture);

struct Sampling {
  bool bilinear = false;
  std::uint8_t fill = 0;
  Sampling() = default;
  explicit Sampling(const LayerSettings& settings);  // interpolation, fill
};

// Labels take the nearest pixel, and 0 from beyond the edge.
void warp(Sample& sample, const Matrix& matrix, const Sampling& sampling,
          Room& room);

Key interpolation_key(std::string_view fallback);

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_WARP_H_
