// Features and targets in units that a network learns well.  Predictions come
// back in the units of the data.

#ifndef DL_LIBCORE_NN_DATA_TARGETS_H_
#define DL_LIBCORE_NN_DATA_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"

namespace dl::nn {

// A normalizer for each input, of `kind` as data::Normalizer::fit() has them;
// "auto" leaves token numbers as they are, and brings what a loss that wants
// bounded targets has as one to 0..1.
// Throws Error: kConfig, as fit() does; with "none", such a target is out of
// bounds.
std::vector<data::Normalizer> fit_inputs(std::string_view kind,
                                         const NetworkConfig& config,
                                         const data::Metadata& all);

// kind: "none"; "standardize"; "auto", that where the output is linear, its
// loss is on reals and the data have statistics of their labels, else none.
// An output that is compared with a value of the network has none.
// note: why auto leaves targets of regression alone, else as it was.
// Throws Error: kConfig, targets cannot be standardized; kUsage, there is no
// such kind.
data::Normalizer fit_targets(std::string_view kind, const NetworkConfig& config,
                             const data::Metadata& all, std::string& note,
                             std::size_t output = 0);

// Outputs whose target is an input, or columns of one, are normalized as it is.
// Throws Error: kConfig, a loss that wants bounded targets has standardized
// ones.
void aim_normalizers(const NetworkConfig& config,
                     data::Normalizers& normalizers);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_TARGETS_H_
