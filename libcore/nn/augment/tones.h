// Changes of a picture's values that leave them in their places, to the bytes
// that Pillow gives.  Of pictures without three channels those about colors
// leave everything as it is.

#ifndef DL_LIBCORE_NN_AUGMENT_TONES_H_
#define DL_LIBCORE_NN_AUGMENT_TONES_H_

#include "libcore/nn/augment/sample.h"

namespace dl::nn::augment {

// factor: 0 is black, the mean, grey or blurred; 1 as it is.
void adjust_brightness(const Picture& picture, double factor);
void adjust_contrast(const Picture& picture, double factor);
void adjust_saturation(const Picture& picture, double factor);
void adjust_sharpness(Canvas& canvas, double factor);
// turn: of the circle of colors, -0.5..0.5.
void adjust_hue(const Picture& picture, double turn);

void make_grey(const Picture& picture);
void invert_values(const Picture& picture);
// Keeps the upper bits of each value.
void keep_bits(const Picture& picture, int bits);
// Inverts values from the threshold on.
void invert_from(const Picture& picture, double threshold);
// Stretches each channel to 0..255.
void stretch_contrast(const Picture& picture);
// Makes values of each channel equally frequent.
void spread_values(const Picture& picture);

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_TONES_H_
