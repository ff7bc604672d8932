// More pixels, or steps, for each.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_UPSAMPLE_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_UPSAMPLE_H_

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/moves.h"

namespace dl::nn {

enum class Interpolation { kNearest, kBilinear };

template <>
inline std::span<const std::string_view> names_of<Interpolation>() {
  static constexpr std::string_view kNames[] = {"nearest", "bilinear"};
  return kNames;
}

namespace layers {

inline device::Strided repeat(const LayerSettings&, Extents in, Extents out) {
  const std::int64_t rows = out.height / in.height,
                     columns = out.width / in.width, c = in.channels;
  device::Strided s;
  return s.over(in.height, rows * out.width * c, in.width * c)
      .over(rows, out.width * c, 0)
      .over(in.width, columns * c, c)
      .over(columns, c, 0)
      .over(c, 1, 1);
}

class Bilinear final : public Layer {
 public:
  Bilinear(const LayerSite& site, Memory&) : device_(site.device) {}

  void forward(const Flow& flow, const Step&) override {
    device_->upsample_bilinear(flow.y, flow.x[0]);
  }
  void backward(const Flow& flow, const Step&) override {
    device_->upsample_bilinear_gradient(flow.dx[0], flow.dy);
  }

 private:
  device::Device* device_;
};

inline std::unique_ptr<Layer> make_upsample2d(const LayerSite& site,
                                              Memory& memory) {
  if (site.settings->one_of<Interpolation>("interpolation") ==
      Interpolation::kBilinear)
    return std::make_unique<Bilinear>(site, memory);
  return std::make_unique<Mover>(site, memory, repeat);
}

template <int rank>
LayerShape infer_upsample(const LayerSettings& settings,
                          std::span<const ValueSpec> inputs) {
  want_rank(rank, inputs[0]);
  const std::vector<std::int64_t> size = settings.integers("size");
  Extents out = extents_of(inputs[0].shape);
  // No product of an extent below 2^40 and 65535 overflows.
  if (rank == 3) out.height *= size[0];
  out.width *= size.back();
  return moved(inputs[0], out);
}

}  // namespace layers
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_UPSAMPLE_H_
