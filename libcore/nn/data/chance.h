// The loss of a network that has learnt nothing.

#ifndef DL_LIBCORE_NN_DATA_CHANCE_H_
#define DL_LIBCORE_NN_DATA_CHANCE_H_

#include <optional>

#include "libcore/data/normalizer.h"
#include "libcore/nn/config/config.h"
#include "libcore/tensor/shape.h"

namespace dl::nn {

// The loss of a network that says the same of every example: that all classes
// are as likely, or yes and no, or the mean of targets that are standardized.
// Nothing where that is not known: other losses, or class weights other than
// those of "balanced" without a label_weight.
// outputs: of one example.  label_weight: what a label counts on average, by
// the class weights.
std::optional<double> loss_of_chance(
    const NetworkConfig& network, const tensor::Shape& outputs,
    const data::Normalizer& targets,
    std::optional<double> label_weight = std::nullopt);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_CHANCE_H_
