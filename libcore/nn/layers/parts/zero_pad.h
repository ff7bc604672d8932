// Zeros around images and series.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_ZERO_PAD_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_ZERO_PAD_H_

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/moves.h"

namespace dl::nn::layers {

inline device::Strided pad(const LayerSettings& settings, Extents in,
                           Extents out) {
  return within(edges_of(settings, "padding"), in, out);
}

template <int rank>
LayerShape infer_zero_pad(const LayerSettings& settings,
                          std::span<const ValueSpec> inputs) {
  want_rank(rank, inputs[0]);
  const Edges edges = edges_of(settings, "padding");
  Extents out = extents_of(inputs[0].shape);
  out.height += edges.top + edges.bottom;
  out.width += edges.left + edges.right;
  return moved(inputs[0], out);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_ZERO_PAD_H_
