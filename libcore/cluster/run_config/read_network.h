// The network of --net.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_READ_NETWORK_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_READ_NETWORK_H_

#include <string>

#include "libcore/nn/config/config.h"

namespace dl::cluster {

// Reads the source that --net names.  Throws Error: kNoInput, kIo; kConfig, it
// is no network, or a file of another kind, which is named.
nn::NetworkConfig read_network(const std::string& spec);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_READ_NETWORK_H_
