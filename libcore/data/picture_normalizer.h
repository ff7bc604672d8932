// Normalizers with the numbers that well-known networks for pictures were
// trained with, by channel.

#ifndef DL_LIBCORE_DATA_PICTURE_NORMALIZER_H_
#define DL_LIBCORE_DATA_PICTURE_NORMALIZER_H_

#include <string_view>

#include "libcore/data/statistics/normalizer.h"

namespace dl::data {

// imagenet, vgg
bool is_of_pictures(std::string_view kind);

// For bytes of red, green and blue, or, bgr, of blue first: "imagenet", mean
// and deviation of ImageNet as torchvision has them; "vgg", the mean that the
// authors of VGG subtract.  It is of the kind "standardize".
Normalizer picture_normalizer(std::string_view kind, bool bgr);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_PICTURE_NORMALIZER_H_
