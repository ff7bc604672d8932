// Rewrites of a plan: where two layers are faster as one.
//
// None changes what a layer gives, but for rounding outside training; values
// that others read as well, and outputs, stay.

#ifndef DL_LIBCORE_NN_FUSIONS_FUSIONS_H_
#define DL_LIBCORE_NN_FUSIONS_FUSIONS_H_

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libcore/nn/plan/plan.h"

namespace dl::nn {

// All of them, in an order in which none hides another.
void fuse(const NetworkConfig& config, const Layout& layout, bool training,
          Plan& plan);

namespace fusions {

// The steps that read and make the values of a plan, by their place.  Steps
// that are fused away are only marked until close(), so places stay.
class Readers {
 public:
  Readers(const NetworkConfig& config, Plan& plan);
  // The step that alone reads the value, and is there; or nullopt.
  std::optional<std::size_t> only(Value v) const;
  std::optional<std::size_t> maker(Value v) const;
  bool is_gone(std::size_t step) const { return gone_[step]; }
  // The step makes this value from now on.
  void give(std::size_t step, Value v);
  // The step reads what another one has read alone.
  void take_over(std::size_t step, Value v) { values_[v].reader = step; }
  void remove(std::size_t step) { gone_[step] = true; }
  void close();  // removes them from the plan

 private:
  struct Of {
    std::size_t reads = 0, reader = 0;
    std::optional<std::size_t> maker;
    bool outside = false;  // an output, or what one is compared with
  };
  Plan& plan_;
  std::unordered_map<Value, Of> values_;
  std::vector<bool> gone_;
};

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
// Outside training: batch normalization is a scaling of the layer before it.
bool batch_normalisation(const NetworkConfig& config, const Layout& layout,
                         const Pair& pair);
// Batch normalization by itself and relu behind it; see layers/batch_norm.h.
bool batch_norm_and_relu(const NetworkConfig& config, const Layout& layout,
                         const Pair& pair);
// The end of a residual block: relu of a sum of two, one of which is batch
// normalization by itself.  Works on the whole plan, as three become one.
void residual_ends(const NetworkConfig& config, const Layout& layout,
                   Plan& plan);
// An activation behind a layer that has none.
bool activation(const NetworkConfig& config, const Layout& layout,
                const Pair& pair);

}  // namespace fusions
}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_FUSIONS_FUSIONS_H_
