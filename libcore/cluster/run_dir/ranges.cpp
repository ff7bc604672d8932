// Sets of mini-batches as sorted ranges.

#include "libcore/cluster/run_dir/ranges.h"

#include <algorithm>
#include <iterator>

namespace dl::cluster {

bool add_range(Ranges& ranges, std::int64_t first, std::int64_t count) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(),
                                std::pair(first, INT64_MAX));
  const std::int64_t end = first + count;
  if (after != ranges.end() && after->first < end) return false;
  const bool has_before = after != ranges.begin();
  auto before = has_before ? std::prev(after) : after;
  if (has_before && before->first + before->second > first) return false;
  const bool joins_after = after != ranges.end() && after->first == end;
  if (has_before && before->first + before->second == first) {
    before->second += count;
    if (joins_after) {
      before->second += after->second;
      ranges.erase(after);
    }
  } else if (joins_after) {
    *after = {first, count + after->second};
  } else {
    ranges.insert(after, {first, count});
  }
  return true;
}

}  // namespace dl::cluster
