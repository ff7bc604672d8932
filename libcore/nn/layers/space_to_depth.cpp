// Squares of pixels as channels of one.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/moves.h"

namespace dl::nn::layers {
namespace {

device::Strided fold(const LayerSettings& settings, Extents in, Extents out) {
  const std::int64_t block = settings.integer("block");
  const std::int64_t run = block * in.channels, row = in.width * in.channels;
  device::Strided s;
  return s.over(out.height, out.width * out.channels, block * row)
      .over(block, run, row)
      .over(out.width, out.channels, run)
      .over(run, 1, 1);
}

LayerShape infer_space_to_depth(const LayerSettings& settings,
                                std::span<const ValueSpec> inputs) {
  want_rank(3, inputs[0]);
  const std::int64_t block = settings.integer("block");
  const Extents in = extents_of(inputs[0].shape);
  if (in.height % block != 0 || in.width % block != 0)
    throw Error{Code::kConfig, "block " + std::to_string(block) +
                                   " does not divide its input " +
                                   inputs[0].shape.to_string()};
  return moved(inputs[0], {in.height / block, in.width / block,
                           in.channels * block * block});
}

}  // namespace

const LayerType& space_to_depth() {
  static const LayerType type{
      .name = "space_to_depth",
      .words =
          "Each square of *block* x *block* pixels becomes one pixel with the "
          "channels of all of\n"
          "them: those of the first row first, from the left.",
      .other_names = {"spacetodepthlayer"},
      .keys = {key::integer("block", "2", "Side of the squares.", kSmall)},
      .infer = infer_space_to_depth,
      .make = make_mover<fold>};
  return type;
}

}  // namespace dl::nn::layers
