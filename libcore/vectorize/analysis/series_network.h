// The nodes of a network to begin with, for windows of series.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_SERIES_NETWORK_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_SERIES_NETWORK_H_

#include "libcore/base/json.h"
#include "libcore/data/format/metadata.h"

namespace dl::vectorize {

// Whether a recipe with "series" made such examples.
bool is_of_series(const data::Metadata& metadata);

// "inputs", "nodes" and "outputs" of dl-network(5).  Numbers are predicted as
// the last one of the window, a linear part and a hidden layer added, which
// begin at zero and see the targets as changes from that last one: so a trend
// that goes on beyond the training data is followed (NLinear, Zeng et al.
// 2023).  output: the layer for what is to be predicted.
Json series_network(const data::Metadata& metadata, const Json& output);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_SERIES_NETWORK_H_
