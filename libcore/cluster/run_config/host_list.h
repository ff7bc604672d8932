// The hosts of dl-master --hosts.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_HOST_LIST_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_HOST_LIST_H_

#include <string>
#include <vector>

namespace dl::cluster {

// Host of each worker, in order, from a text such as "h1,user@h2*4,@file". The
// file has entries parted by commas, blanks or lines, and comments (#). Throws
// Error: kUsage, an entry is none, or there are none or too many; kNoInput,
// there is no such file.
std::vector<std::string> parse_hosts(const std::string& text);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_HOST_LIST_H_
