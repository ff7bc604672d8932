// Weights of labels of sequences.

#include "libcore/data/label_mask.h"

namespace dl::data {

using tensor::Shape;
using tensor::Tensor;

const Tensor* mask_of_steps(const Tensor* labels, const Tensor* own,
                            Tensor& product) {
  if (own == nullptr) return labels;
  if (labels == nullptr) return own;
  const std::int64_t n = own->shape()[0], steps = own->shape()[1];
  if (labels->shape().rank() > 1 && labels->elements() >= n * steps)
    return labels;
  product.resize(tensor::DType::kF32, {n, steps});
  for (std::int64_t i = 0; i < n * steps; ++i)
    product.as<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(labels->value(i / steps) * own->value(i));
  return &product;
}

const Tensor* label_mask(const DataSet& set, Tensor& product,
                         const std::string& of) {
  const Tensor* labels = set.find("labels" + of);
  const Tensor* own = set.find("labels_mask" + of);
  const Tensor* steps = set.find("features_mask" + of);
  // The one input's, whatever the outputs are called.
  if (!steps) steps = set.find("features_mask");
  if (!labels || !steps || steps->shape().rank() != 2) return own;
  const Shape& shape = labels->shape();
  const bool of_steps =
      shape.rank() >= (tensor::is_real(labels->dtype()) ? 3 : 2) &&
      shape[0] == steps->shape()[0] && shape[1] == steps->shape()[1];
  const bool fits =
      !own || own->shape() == steps->shape() || own->elements() == shape[0];
  return of_steps && fits ? mask_of_steps(own, steps, product) : own;
}

}  // namespace dl::data
