// Windows over series with a mask: steps that it leaves out are not there.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_SERIES_MASK_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_SERIES_MASK_H_

#include <memory>

#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/window.h"

namespace dl::nn::layers {

// Rule for the mask: it stays where steps stay as many.
MaskRule series_mask_rule(const ValueSpec& input, const ValueSpec& output);

class SeriesMask {
 public:
  SeriesMask(const LayerSite& site, Memory& memory);

  // x with `instead` for what the mask [n, steps] (empty: ones) leaves out.
  tensor::View apply(const tensor::View& x, const tensor::View& mask,
                     double instead = 0);
  // The last result of apply().
  tensor::View kept(const tensor::View& x, const tensor::View& mask) const;

  // 1 for the steps of the output whose window has a step that counts, from its
  // first to its last; empty for an empty mask.
  tensor::View any(const tensor::View& mask);
  // Share of each window that counts, of those elements that are not padding.
  tensor::View share(const tensor::View& mask);

 private:
  tensor::View pool(device::Pool2d* kernel, const tensor::View& to,
                    const tensor::View& mask);

  device::Device* device_;
  tensor::View x_, instead_, any_, share_;
  std::unique_ptr<device::Pool2d> any_of_, share_of_;
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_SERIES_MASK_H_
