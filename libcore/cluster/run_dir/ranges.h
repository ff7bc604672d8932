// Sets of mini-batches as ranges of their numbers.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_RANGES_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_RANGES_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace dl::cluster {

// Ranges [first, first + count), in order, not touching.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
// Adds [first, first + count), count >= 1.  Returns false, and changes nothing,
// if some of it is there already.
bool add_range(Ranges& ranges, std::int64_t first, std::int64_t count);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_RANGES_H_
