// Which steps of sequences a layer reads, where that depends on their masks.

#ifndef DL_LIBCORE_NN_LAYERS_STEP_INDEX_H_
#define DL_LIBCORE_NN_LAYERS_STEP_INDEX_H_

#include <cstdint>
#include <functional>
#include <span>

#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// Row numbers of [n * steps, features], of so many for each example.
class StepIndex {
 public:
  StepIndex(const LayerSite& site, std::int64_t each, Memory& memory);

  // rows: of one example, to be counted from its first step; real: 0 where a
  // step is padding.
  using Choose = void (*)(std::span<std::int32_t> rows,
                          std::span<const double> real);
  // mask: [n, steps], or empty.  The view is [n * each].
  tensor::View choose(Choose rows_of, tensor::View mask, std::int64_t n);

 private:
  tensor::Device* device_;
  std::int64_t steps_, each_;
  tensor::View index_;
  tensor::Tensor host_, mask_;
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_STEP_INDEX_H_
