// The labels that count, where labels are of the steps of sequences.

#ifndef DL_LIBCORE_DATA_LABEL_MASK_H_
#define DL_LIBCORE_DATA_LABEL_MASK_H_

#include <string>

#include "libcore/data/format/dataset.h"

namespace dl::data {

// Weight of each step of n sequences: what the labels' mask says of it, if that
// is [n, steps] (or of what a step consists of, [n, steps, ...]); else what the
// sequences' own mask does (of an output, as the network computed it), times
// that of the labels where they have one for each example. Learning, evaluating
// and statistics have this rule in common.
//
// labels: such, or of n elements, or null; own: [n, steps], or null.
// Returns one of them, null if all count, or `product`, which is made then.
const tensor::Tensor* mask_of_steps(const tensor::Tensor* labels,
                                    const tensor::Tensor* own,
                                    tensor::Tensor& product);

// The mask of the set's labels: "labels_mask", and "features_mask" as well
// where they are of its steps: class numbers [n, steps] or values
// [n, steps, ...].  Values [n, columns] are of the whole, however many steps
// there are.
// of: "/left" of a MultiDataSet.
const tensor::Tensor* label_mask(const DataSet& set, tensor::Tensor& product,
                                 const std::string& of);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_LABEL_MASK_H_
