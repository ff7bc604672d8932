// A network to begin with, for rows of numbers and windows of series.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_PROPOSE_NETWORK_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_PROPOSE_NETWORK_H_

#include <cstdint>

#include "libcore/base/json.h"
#include "libcore/data/format/metadata.h"

namespace dl::vectorize {

struct ProposedNetwork {
  Json network;             // as dl-network(5) has it
  std::int64_t epochs = 0;  // passes over the examples that its rates count on
  std::int64_t batch = 0;   // examples of a step
};

// metadata: of all examples, so that their classes are known.
// Throws Error: kUsage, features are neither, or there are no labels.
ProposedNetwork propose_network(const data::Metadata& metadata,
                                std::int64_t examples);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_PROPOSE_NETWORK_H_
