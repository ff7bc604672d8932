// Rewrites of a plan: where two layers are faster as one.
//
// None changes what a layer gives, but for rounding outside training; values
// that others read as well, and outputs, stay.

#ifndef DL_LIBCORE_NN_FUSIONS_FUSIONS_H_
#define DL_LIBCORE_NN_FUSIONS_FUSIONS_H_

#include "libcore/nn/plan/plan.h"

namespace dl::nn {

// All of them, in an order in which none hides another.
void fuse(const NetworkConfig& config, const Layout& layout, bool training,
          Plan& plan);

namespace fusions {

// The step that alone reads the value; end() if there is none.
std::vector<PlannedLayer>::iterator only_reader(const NetworkConfig& config,
                                                Plan& plan, Value v);

// Steps [i] and [i + k] of a plan, the second being the only one that reads
// what the first gives.
struct Pair {
  PlannedLayer* first;
  PlannedLayer* second;
};
// Whether a pair becomes one: `first` is then what both are, and takes over
// the second's output.
using Rule = bool (*)(const NetworkConfig& config, const Layout& layout,
                      const Pair& pair);

// A convolution and the max pooling behind it; see layers/conv2d.h.
bool convolution_and_pooling(const NetworkConfig& config, const Layout& layout,
                             const Pair& pair);
// Outside training: batch normalisation is a scaling of the layer before it.
bool batch_normalisation(const NetworkConfig& config, const Layout& layout,
                         const Pair& pair);
// Batch normalisation by itself and relu behind it; see layers/batch_norm.h.
bool batch_norm_and_relu(const NetworkConfig& config, const Layout& layout,
                         const Pair& pair);
// The end of a residual block: relu of a sum of two, one of which is batch
// normalisation by itself.  Of the whole plan, as three become one.
void residual_ends(const NetworkConfig& config, const Layout& layout,
                   Plan& plan);
// An activation behind a layer that has none.
bool activation(const NetworkConfig& config, const Layout& layout,
                const Pair& pair);

}  // namespace fusions
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_FUSIONS_FUSIONS_H_
