// Constraints on parameters: after each update they are put back to where
// they may be.
//
// Norms are those of the weights of one output: of a tensor [units, ...] each
// row has one; biases have one together.  First negative numbers become 0,
// then a row whose norm n is outside [min, max] is multiplied by
//   (rate bound + (1 - rate) n) / n,
// bound being the end that n is beyond.  A row that keeps its constraint stays
// as it is to the bit, and so does one whose norm is less than 1e-6.

#ifndef DL_LIBCORE_NN_UPDATE_CONSTRAINTS_H_
#define DL_LIBCORE_NN_UPDATE_CONSTRAINTS_H_

#include <cstdint>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"

namespace dl::nn {

class Constraints {
 public:
  Constraints() = default;  // none
  // Throws Error: kConfig, "layer 'dense1': constraints: min_norm is more than
  // max_norm".
  Constraints(const NetworkConfig& config, const Layout& layout);

  bool empty() const { return tensors_.empty(); }
  // Puts back the rows that are lane's of `lanes`, of all parameters, which lie
  // on the device.  On the cpu, the same to the bit on every host.
  void apply(device::Device& device, tensor::View parameters, int lane = 0,
             int lanes = 1) const;

 private:
  struct Constrained {
    std::int64_t offset, rows, columns;
    Constraint constraint;
  };
  std::vector<Constrained> tensors_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_UPDATE_CONSTRAINTS_H_
