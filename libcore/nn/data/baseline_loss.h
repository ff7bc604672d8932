// The loss of a network that has learnt nothing.

#ifndef DL_LIBCORE_NN_DATA_BASELINE_LOSS_H_
#define DL_LIBCORE_NN_DATA_BASELINE_LOSS_H_

#include <optional>
#include <string>

#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/data/fit_decorrelation.h"

namespace dl::nn {

// Labels as their loss counts them.
struct LabelCount {
  double weight = 1;  // of a label on average, by class_weights
  // In an example on average: steps, pixels; none: as many as the output has
  // places.
  std::optional<double> in_example = std::nullopt;
};

// Counts in these records where class weights or padding make a difference, and
// only then reads them; nothing: class weights are there, but what they come to
// is not known.
std::optional<LabelCount> count_labels(const NetworkConfig& network,
                                       const data::Metadata& data,
                                       const EachRecord& records);

// The loss of a network that says the same of every example: that all classes
// are as likely, or yes and no, or the mean of targets that are standardized;
// of several outputs the sum.  Nothing where that is not known: other losses,
// or class weights other than those of "balanced" without a count.
std::optional<double> loss_of_chance(
    const NetworkConfig& network, const data::Normalizers& normalizers,
    std::optional<LabelCount> count = std::nullopt);

// The accuracy of such a prediction where all classes are as frequent: of the
// only output, or of the one that the metric names; 0: not known.
double accuracy_of_chance(const NetworkConfig& network,
                          const std::string& metric);

// The best prediction that is the same for every example and place in it: by
// how often each class is there, or the mean of the targets, be these labels or
// an input.  Its loss is loss_of_chance() at the most, and far less where most
// examples are of one class.
struct BestConstant {
  double loss = 0, error = 0;  // mean over examples, and its standard error
  // Accuracy of the class that counts most, if one output has classes; and, if
  // all classes count alike, the mean of -log(share of the example's class).
  std::optional<double> accuracy = std::nullopt, log_loss = std::nullopt;
};

// Looks at the targets in these records; nothing: an output has another loss
// than of classes, probabilities or squares, weights of examples or a target
// that the network computes, or there are no labels.
std::optional<BestConstant> best_constant(const NetworkConfig& network,
                                          const data::Metadata& data,
                                          const data::Normalizers& normalizers,
                                          const EachRecord& records);

// Numbers in the targets of an example.
std::int64_t target_size(const NetworkConfig& network);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_BASELINE_LOSS_H_
