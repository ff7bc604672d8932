// Zeros around images and series.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/moves.h"

namespace dl::nn::layers {
namespace {

device::Strided pad(const LayerSettings& settings, Extents in, Extents out) {
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

}  // namespace

const LayerType& zero_pad2d() {
  static const LayerType type{
      .name = "zero_pad2d",
      .words = "Zeros around an image.",
      .other_names = {"zeropadding2d", "zeropadding"},
      .keys = {key::tuple("padding", "[1, 1, 1, 1]", "Pixels at each side.",
                          "[top, bottom, left, right]", "0..65535")},
      .infer = infer_zero_pad<3>,
      .make = make_mover<pad>};
  return type;
}

const LayerType& zero_pad1d() {
  static const LayerType type{
      .name = "zero_pad1d",
      .words =
          "Steps of zeros before and after a series; its mask counts them as "
          "real steps.",
      .other_names = {"zeropadding1d"},
      .keys = {key::tuple("padding", "[1, 1]", "Steps at each end.",
                          "[begin, end]", "0..65535")},
      .reads_sequences = true,
      .infer = infer_zero_pad<2>,
      .make = make_mover<pad>};
  return type;
}

}  // namespace dl::nn::layers
