// Layers that only move pixels or steps.

#include "libcore/nn/layers/parts/moves.h"

#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn::layers {

using device::Strided;
using tensor::View;

Extents extents_of(const tensor::Shape& shape) {
  if (shape.rank() == 2) return {1, shape[0], shape[1]};
  return {shape[0], shape[1], shape[2]};
}

void want_rank(int rank, const ValueSpec& input) {
  if (input.shape.rank() != rank)
    throw Error{
        Code::kConfig,
        std::string(rank == 2 ? "wants a series [steps, features]"
                              : "wants an image [height, width, channels]") +
            ", its input is " + input.shape.to_string() +
            (rank == 2 ? steps_hint(input.shape) : "")};
}

Edges edges_of(const LayerSettings& settings, std::string_view key) {
  const std::vector<std::int64_t> all = settings.integers(key);
  if (all.size() == 2) return {.left = all[0], .right = all[1]};
  return {all[0], all[1], all[2], all[3]};
}

device::Strided within(const Edges& edges, Extents inner, Extents whole) {
  const std::int64_t row = inner.width * inner.channels;
  device::Strided s;
  s.y_offset = (edges.top * whole.width + edges.left) * inner.channels;
  return s.over(inner.height, whole.width * inner.channels, row)
      .over(row, 1, 1);
}

LayerShape moved(const ValueSpec& input, Extents out) {
  ValueSpec form = input;
  form.shape =
      input.shape.rank() == 2
          ? checked_shape({out.width, out.channels}, "its output")
          : checked_shape({out.height, out.width, out.channels}, "its output");
  return {.output = form,
          .buffers = {.keeps_inputs = false, .keeps_output = false},
          .mask = form.steps ? MaskRule::kMade : MaskRule::kNone};
}

Mover::Mover(const LayerSite& site, Memory& memory, Move move)
    : device_(site.device) {
  Extents in = extents_of(site.input()), out = extents_of(site.output.shape);
  move_ = move(*site.settings, in, out);
  if (!site.output.steps) return;
  in.channels = out.channels = 1;
  mask_move_ = move(*site.settings, in, out);
  mask_ = memory.allocate({site.max_batch, out.width});
}

// s for each example.
void Mover::run(const Strided& s, const View& y, const View& x, bool add) {
  const std::int64_t n = y.shape[0];
  Strided all;
  all.y_offset = s.y_offset;
  all.x_offset = s.x_offset;
  all.over(n, y.elements() / n, x.elements() / n);
  for (int k = 0; k < s.rank; ++k)
    all.over(s.extent[k], s.y_stride[k], s.x_stride[k]);
  device_->copy_strided(all, y, x, add);
}

void Mover::forward(const Flow& flow, const Step&) {
  device_->fill(flow.y, 0);
  run(move_, flow.y, flow.x[0], false);
}

void Mover::backward(const Flow& flow, const Step&) {
  device_->fill(flow.dx[0], 0);
  run(move_.exchanged(), flow.dx[0], flow.dy, true);
}

View Mover::mask(const Flow& flow) {
  const View& mask = flow.masks[0];
  if (mask.empty()) return {};
  const View made = mask_.at(0, {mask.shape[0], mask_.shape[1]});
  device_->fill(made, 1);
  run(mask_move_, made, mask, false);
  return made;
}

}  // namespace dl::nn::layers
