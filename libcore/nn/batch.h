// Checks of what comes from data before it reaches a device.

#ifndef DL_LIBCORE_NN_BATCH_H_
#define DL_LIBCORE_NN_BATCH_H_

#include "libcore/data/metadata.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/network.h"

namespace dl::nn {

// What a network wants of its data.
struct Wanted {
  tensor::Shape input;     // of one example
  bool sequences = false;  // which is [steps, ...], with a mask or without
  std::int64_t units = 0;
  std::int64_t steps = 0;  // of the output; 0: it is no sequence
  tensor::Loss loss = tensor::Loss::kNegativeLogLikelihood;
};

Wanted wanted_by(const NetworkConfig& config, const Layout& layout);

// Whether labels of this kind, [n] or [n, 1], are class numbers to be expanded;
// for sequences [n, steps].  A single output takes them as they are.
bool are_classes(tensor::DType dtype, const tensor::Shape& shape,
                 std::int64_t units, std::int64_t steps);

// Whether that is so of the labels of these data.
bool are_classes(const data::Metadata& data, const NetworkConfig& config);

// Whether a single output tells two classes by its sign, as hinge losses have
// it: 0 is the threshold then, not 1/2.
bool sides_are_classes(const data::Metadata& data, const NetworkConfig& config);

// Throws Error: kData, features [n, ...] or their mask (or null) do not fit.
void check_features(const tensor::Tensor& features, const tensor::Tensor* mask,
                    const Wanted& wanted);
// Throws Error: kData, labels or mask that do not fit the features, a class
// number outside 0..units-1, a target that the loss has no use for.
void check_batch(const Batch& batch, const Wanted& wanted);
// As Network::check_data().
void check_metadata(const data::Metadata& metadata, const Wanted& wanted,
                    bool labels_needed);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_BATCH_H_
