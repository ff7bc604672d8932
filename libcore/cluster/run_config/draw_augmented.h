// A sheet of training pictures and what augmentation makes of them.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_DRAW_AUGMENTED_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_DRAW_AUGMENTED_H_

#include <string>

#include "libcore/cluster/loading/master_data.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

// The first pictures, a row each: as it is, and then as it is trained on in the
// first epochs.  Steps that mix examples take these for the mini-batch.
// Throws Error: kConfig, the network has no augmentation; as
// MasterData::examine(); kCantCreate, kIo.
void draw_augmented(const nn::NetworkConfig& config, MasterData& data,
                    const std::string& path);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_DRAW_AUGMENTED_H_
