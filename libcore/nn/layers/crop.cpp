// The middle of images and series.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/moves.h"

namespace dl::nn::layers {
namespace {

device::Strided crop(const LayerSettings& settings, Extents in, Extents out) {
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

}  // namespace

const LayerType& crop2d() {
  static const LayerType type{
      .name = "crop2d",
      .words = "An image without its edges.",
      .other_names = {"cropping2d"},
      .keys = {key::tuple("cropping", "[1, 1, 1, 1]",
                          "Pixels removed at each side.",
                          "[top, bottom, left, right]", "0..65535")},
      .infer = infer_crop<3>,
      .make = make_mover<crop>};
  return type;
}

const LayerType& crop1d() {
  static const LayerType type{
      .name = "crop1d",
      .words = "A series without its first and last steps.",
      .other_names = {"cropping1d"},
      .keys = {key::tuple("cropping", "[1, 1]", "Steps removed at each end.",
                          "[begin, end]", "0..65535")},
      .reads_sequences = true,
      .infer = infer_crop<2>,
      .make = make_mover<crop>};
  return type;
}

}  // namespace dl::nn::layers
