// The middle of images and series.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_CROP_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_CROP_H_

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/moves.h"

namespace dl::nn::layers {

inline device::Strided crop(const LayerSettings& settings, Extents in,
                            Extents out) {
  return within(edges_of(settings, "cropping"), out, in).exchanged();
}

template <int rank>
LayerShape infer_crop(const LayerSettings& settings,
                      std::span<const ValueSpec> inputs) {
  want_rank(rank, inputs[0]);
  const Edges edges = edges_of(settings, "cropping");
  Extents out = extents_of(inputs[0].shape);
  out.height -= edges.top + edges.bottom;
  out.width -= edges.left + edges.right;
  if (out.height < 1 || out.width < 1)
    throw Error{Code::kConfig, "cropping leaves nothing of its input " +
                                   inputs[0].shape.to_string()};
  return moved(inputs[0], out);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_CROP_H_
