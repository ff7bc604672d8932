// The middle of images and series.

#include "libcore/nn/keys.h"
#include "libcore/nn/layers/moves.h"

namespace dl::nn::layers {
namespace {

tensor::Strided move(const Settings& settings, Extents in, Extents out) {
  const std::vector<std::int64_t> edges = settings.integers("cropping");
  const std::int64_t top = edges.size() == 4 ? edges[0] : 0,
                     left = edges[edges.size() == 4 ? 2 : 0];
  const std::int64_t row = out.width * in.channels;
  tensor::Strided s;
  s.x_offset = (top * in.width + left) * in.channels;
  return s.over(out.height, row, in.width * in.channels).over(row, 1, 1);
}

template <int rank>
Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  want_rank(rank, inputs[0]);
  const std::vector<std::int64_t> edges = settings.integers("cropping");
  Extents out = extents_of(inputs[0].shape);
  if (rank == 3) out.height -= edges[0] + edges[1];
  out.width -= edges[rank == 3 ? 2 : 0] + edges[rank == 3 ? 3 : 1];
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
                          "Pixels that each side loses.",
                          "[top, bottom, left, right]", "0..65535")},
      .plan = plan<3>,
      .make = make_mover<move>};
  return type;
}

const LayerType& crop1d() {
  static const LayerType type{
      .name = "crop1d",
      .words = "A series without its first and last steps.",
      .other_names = {"cropping1d"},
      .keys = {key::tuple("cropping", "[1, 1]", "Steps that each end loses.",
                          "[begin, end]", "0..65535")},
      .reads_sequences = true,
      .plan = plan<2>,
      .make = make_mover<move>};
  return type;
}

}  // namespace dl::nn::layers
