// Batch normalization as part of the layer before it, outside training.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_FOLD_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_FOLD_H_

#include <memory>
#include <vector>

#include "libcore/device/api/device.h"

namespace dl::nn {

// A factor and an offset for each channel, the last dimension; or nothing.
struct Scaling {
  std::vector<double> factor, offset;
  bool empty() const { return factor.empty(); }
};

// factor = gamma / sqrt(variance + epsilon), offset = beta - mean * factor
Scaling scaling_of(device::Device& device, tensor::View mean,
                   tensor::View variance, tensor::View gamma, tensor::View beta,
                   double epsilon);

// Weights and bias of a layer, the output first, with the scaling of its output
// worked into them: w'[c, ..] = factor[c] w[c, ..], b' = factor b + offset.
// Computed in double.  An empty b counts as zeros.  w and b become views of
// what is returned; an empty scaling leaves them as they are.
struct Folded {
  std::unique_ptr<tensor::Buffer> weight, bias;
};
Folded fold(device::Device& device, tensor::View& w, tensor::View& b,
            const Scaling& scaling);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_FOLD_H_
