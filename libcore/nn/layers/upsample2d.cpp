// The layer type "upsample2d".

#include "libcore/nn/layers/parts/upsample.h"

namespace dl::nn::layers {

const LayerType& upsample2d() {
  static const LayerType type{
      .name = "upsample2d",
      .words =
          "Each pixel becomes *size* pixels: copies of it, or interpolated "
          "with its neighbors.\n"
          "For bilinear, pixels are squares, and the outermost are repeated.",
      .other_names = {"upsampling2d", "upsampling"},
      .keys = {key::tuple("size", "[2, 2]",
                          "Output pixels for each input pixel."),
               key::one_of("interpolation", R"("nearest")",
                           "Method of interpolation.",
                           names_of<Interpolation>())},
      .infer = infer_upsample<3>,
      .make = make_upsample2d};
  return type;
}

}  // namespace dl::nn::layers
