// Parts of pictures, enlarged to the size of the whole.

#ifndef DL_LIBCORE_NN_AUGMENT_STRETCH_H_
#define DL_LIBCORE_NN_AUGMENT_STRETCH_H_

#include "libcore/nn/augment/sample.h"

namespace dl::nn::augment {

// A rectangle within a picture.
struct Box {
  double top, left, height, width;
};

// Interpolates between four pixels, those beyond the edge of the picture being
// the nearest ones in it.
void stretch(Canvas& canvas, const Box& box, Room& room);

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_STRETCH_H_
