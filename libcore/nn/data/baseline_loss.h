// The loss of a network that has learnt nothing.

#ifndef DL_LIBCORE_NN_DATA_BASELINE_LOSS_H_
#define DL_LIBCORE_NN_DATA_BASELINE_LOSS_H_

#include <optional>

#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/data/fit_decorrelation.h"
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

// Factor of the one output's loss in that of the network, by loss_weight.
double loss_weight_of(const NetworkConfig& network);

// The best prediction that is the same for every example, by how often each
// class is there.  Its loss is loss_of_chance() at the most, and far less where
// most examples are of one class.
struct BestConstant {
  double loss = 0, error = 0;  // mean over the labels, and its standard error
  double accuracy = 0;         // of the class that counts most
};

// Counts the classes in these records; nothing: the one output has another loss
// than of classes, or labels or weights of another kind, or there are no
// labels.
std::optional<BestConstant> best_constant(const NetworkConfig& network,
                                          const data::Metadata& data,
                                          const EachRecord& records);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_BASELINE_LOSS_H_
