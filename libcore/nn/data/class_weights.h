// Weights of classes that the data have to say: by name, or "balanced".

#ifndef DL_LIBCORE_NN_DATA_CLASS_WEIGHTS_H_
#define DL_LIBCORE_NN_DATA_CLASS_WEIGHTS_H_

#include <optional>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/fit_decorrelation.h"

namespace dl::nn {

// Puts numbers in their place, in the order of the outputs.  records: of the
// training data, read where something is balanced alone.
// Throws Error: kConfig, the data have no such class, or none that could be
// balanced; and what `records` does.
void settle_class_weights(NetworkConfig& config, const data::Metadata& data,
                          const EachRecord& records);

// The average weight of a label of the one output in these records, by
// class_weights that are numbers; none: there are no such, labels are no
// classes, or no record has any.  records: read only if that depends on them.
std::optional<double> mean_label_weight(const NetworkConfig& config,
                                        const data::Metadata& data,
                                        const EachRecord& records);

// Whether labels are numbers of classes; of one output, 0 and 1.
bool has_classes(const data::Metadata& data, const WantedOutput& output);
// Adds the examples, of sequences steps, of each class; masks do not count.
void count_classes(const data::DataSet& set, const WantedOutput& output,
                   std::vector<double>& counts);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_CLASS_WEIGHTS_H_
