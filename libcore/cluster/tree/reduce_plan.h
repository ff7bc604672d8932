// The plan by which workers reduce the slots of a round of averaging.
//
// Slots are summed in groups of exchange::kAverageGroup and those sums in
// groups again, as exchange::Average sums them: where a group is summed changes
// no bit.

#ifndef DL_LIBCORE_CLUSTER_TREE_REDUCE_PLAN_H_
#define DL_LIBCORE_CLUSTER_TREE_REDUCE_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "libcore/exchange/rules/average.h"

namespace dl::cluster {

struct ReduceGroup {
  std::size_t level = 1;  // 1: sum of slots; 2: sum of groups of level 1; ...
  std::size_t first = 0, count = 0;  // slots of the group
  std::size_t reducer = 0;           // index of the reducer, 0 ... reducers - 1
  std::optional<std::size_t> up;     // group whose sum includes this one
};

// All groups of a round, the lowest ones first: that of slot s is
// groups[s / kAverageGroup].  At most kAverageGroup of them have no `up`.
// None if there are so few slots, or no reducers.
inline std::vector<ReduceGroup> plan_groups(std::size_t slots,
                                            std::size_t reducers) {
  std::vector<ReduceGroup> groups;
  if (reducers == 0) return groups;
  std::size_t parts = slots, below = 0;  // below: where the last level begins
  for (std::size_t level = 1, size = exchange::kAverageGroup;
       parts > exchange::kAverageGroup;
       ++level, size *= exchange::kAverageGroup) {
    const std::size_t begin = groups.size();
    for (std::size_t first = 0; first < slots; first += size)
      groups.push_back({level, first, std::min(size, slots - first),
                        groups.size() % reducers, std::nullopt});
    for (std::size_t i = below; i < begin; ++i)
      groups[i].up = begin + groups[i].first / size;
    below = begin;
    parts = groups.size() - begin;
  }
  return groups;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_REDUCE_PLAN_H_
