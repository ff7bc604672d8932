// Topologies for messages to all workers: from the master to each, or through a
// tree of them.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_TOPOLOGY_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_TOPOLOGY_H_

#include <algorithm>
#include <cstdint>

#include "libcore/base/names.h"

namespace dl::cluster {

// kAuto: a tree once there are many workers.
enum class Topology { kAuto, kStar, kTree };
constexpr Names<Topology, 3> kTopologyNames{{{{Topology::kAuto, "auto"},
                                              {Topology::kStar, "star"},
                                              {Topology::kTree, "tree"}}}};

// Whether so many workers are to form a tree.
constexpr bool is_tree(Topology topology, std::int64_t workers) {
  constexpr std::int64_t kStarUpTo = 32;  // limit of kAuto
  return topology == Topology::kTree ||
         (topology == Topology::kAuto && workers > kStarUpTo);
}

// Number of workers to which the master sends the feed itself.
constexpr std::int64_t children_of_master(Topology topology,
                                          std::int64_t fan_out,
                                          std::int64_t workers) {
  return is_tree(topology, workers) ? std::min(fan_out, workers) : workers;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_TOPOLOGY_H_
