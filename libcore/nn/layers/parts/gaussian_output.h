// The output of a layer whose loss is `gaussian`: twice as many numbers come
// before it, means and logarithms of variances.  Its outputs are the means; the
// rest is for the loss alone.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_GAUSSIAN_OUTPUT_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_GAUSSIAN_OUTPUT_H_

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

bool is_gaussian(const LayerSettings& settings);

// The same settings with the units that come before, or those that come out of
// a form with as many.
LayerSettings doubled(const LayerSettings& settings);
ValueSpec halved(ValueSpec form);

// The layer that gives what its loss looks at: means and logarithms of
// variances, where that is `gaussian`, else the layer itself.  The parameters
// are the same.
LayerConfig with_variances(const LayerConfig& layer);

// Makes an output layer with weights (output) or without (loss).
std::unique_ptr<Layer> make_gaussian_output(const LayerSite& site,
                                            Memory& memory);

// The `make` of a type whose class is L, except with the loss gaussian.
template <typename L>
std::unique_ptr<Layer> make_output(const LayerSite& site, Memory& memory) {
  if (is_gaussian(*site.settings)) return make_gaussian_output(site, memory);
  return make<L>(site, memory);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_GAUSSIAN_OUTPUT_H_
