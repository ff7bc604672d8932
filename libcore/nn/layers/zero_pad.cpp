// Zeros around images and series.

#include "libcore/nn/keys.h"
#include "libcore/nn/layers/moves.h"

namespace dl::nn::layers {
namespace {

// From where on the input lies in the output: what is before it.
tensor::Strided move(const Settings& settings, Extents in, Extents out) {
  const std::vector<std::int64_t> edges = settings.integers("padding");
  const std::int64_t top = edges.size() == 4 ? edges[0] : 0,
                     left = edges[edges.size() == 4 ? 2 : 0];
  const std::int64_t row = in.width * in.channels;
  tensor::Strided s;
  s.y_offset = (top * out.width + left) * in.channels;
  return s.over(in.height, out.width * in.channels, row).over(row, 1, 1);
}

template <int rank>
Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  want_rank(rank, inputs[0]);
  const std::vector<std::int64_t> edges = settings.integers("padding");
  Extents out = extents_of(inputs[0].shape);
  if (rank == 3) out.height += edges[0] + edges[1];
  out.width += edges[rank == 3 ? 2 : 0] + edges[rank == 3 ? 3 : 1];
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
      .plan = plan<3>,
      .make = make_mover<move>};
  return type;
}

const LayerType& zero_pad1d() {
  static const LayerType type{
      .name = "zero_pad1d",
      .words =
          "Steps of zeros before and behind a series; they count where it has "
          "a mask.",
      .other_names = {"zeropadding1d"},
      .keys = {key::tuple("padding", "[1, 1]", "Steps at each end.",
                          "[begin, end]", "0..65535")},
      .reads_sequences = true,
      .plan = plan<2>,
      .make = make_mover<move>};
  return type;
}

}  // namespace dl::nn::layers
