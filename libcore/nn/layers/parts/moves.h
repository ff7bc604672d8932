// Layers that move the pixels of an image, or the steps of a series, which is
// an image of height 1.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_MOVES_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_MOVES_H_

#include <cstdint>
#include <string_view>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

struct Extents {
  std::int64_t height = 1, width = 1, channels = 1;
};
// Extents of [height, width, channels], or of [steps, features].
Extents extents_of(const tensor::Shape& shape);

// Throws Error: kConfig, the input is not of this rank, 2 or 3.
void want_rank(int rank, const ValueSpec& input);
// Value of a key [top, bottom, left, right], or [begin, end] of a series.
struct Edges {
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
};
Edges edges_of(const LayerSettings& settings, std::string_view key);
// Where what lies within the edges goes in the whole.
device::Strided within(const Edges& edges, Extents inner, Extents whole);

// The same with other extents; a mask is then made anew.
LayerShape moved(const ValueSpec& input, Extents output);

// Places to which pixels of an example move, y's for x's.
using Move = device::Strided (*)(const LayerSettings& settings, Extents in,
                                 Extents out);

// Elements without a source are 0 in y; elements without a target have gradient
// 0 in dx.
class Mover : public Layer {
 public:
  Mover(const LayerSite& site, Memory& memory, Move move);

  void forward(const Flow& flow, const Step& step) override;
  void backward(const Flow& flow, const Step& step) override;
  // Steps that come from nowhere count.
  tensor::View mask(const Flow& flow) override;

 private:
  void run(const device::Strided& s, const tensor::View& y,
           const tensor::View& x, bool add);

  device::Device* device_;
  device::Strided move_, mask_move_;
  tensor::View mask_;
};

// The `make` of a type that moves elements.
template <Move move>
std::unique_ptr<Layer> make_mover(const LayerSite& site, Memory& memory) {
  return std::make_unique<Mover>(site, memory, move);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_MOVES_H_
