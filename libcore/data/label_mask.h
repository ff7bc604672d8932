// Which labels count, where labels are of the steps of sequences.

#ifndef DL_LIBCORE_DATA_LABEL_MASK_H_
#define DL_LIBCORE_DATA_LABEL_MASK_H_

#include <string>

#include "libcore/data/dataset.h"

namespace dl::data {

// Of n sequences: labels (a mask of [n, steps] or [n], or null) and features
// (null, or of [n, steps], which stands in for what `labels` does not say).
// Returns one of them, null if all count, or `product`, which is made then.
const tensor::Tensor* mask_of_steps(const tensor::Tensor* labels,
                                    const tensor::Tensor* features,
                                    tensor::Tensor& product);

// The mask of the set's labels: "labels_mask", and "features_mask" as well
// where they are of its steps: class numbers [n, steps] or values
// [n, steps, ...].  Values [n, columns] are of the whole, however many steps
// there are.
// of: "/left" of a MultiDataSet.
const tensor::Tensor* label_mask(const DataSet& set, tensor::Tensor& product,
                                 const std::string& of = "");

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_LABEL_MASK_H_
