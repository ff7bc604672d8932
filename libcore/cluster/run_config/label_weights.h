// Weights of examples that leave nothing to learn from.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_LABEL_WEIGHTS_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_LABEL_WEIGHTS_H_

#include <string>

#include "libcore/cluster/loading/master_data.h"

namespace dl::cluster {

// Reads data until a label counts, usually one record.  what: they are, as "the
// training data".  Throws Error: kData, all labels have the weight 0; kNoInput,
// kIo.
void refuse_zero_weights(MasterData& data, const std::string& what);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_LABEL_WEIGHTS_H_
