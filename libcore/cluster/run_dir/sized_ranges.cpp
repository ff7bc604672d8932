#include "libcore/cluster/run_dir/sized_ranges.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dl::cluster {

bool SizedRanges::add(std::int64_t first, std::int64_t count, double examples) {
  const std::int64_t end = first + count;
  const auto after = ranges_.lower_bound(first);
  if (after != ranges_.end() && after->first < end) return false;
  const auto before =
      after == ranges_.begin() ? ranges_.end() : std::prev(after);
  if (before != ranges_.end() && before->first + before->second.count > first)
    return false;
  const auto is_alike = [](const Part& a, const Part& b) {
    return a.examples * static_cast<double>(b.count) ==
           b.examples * static_cast<double>(a.count);
  };
  Part part{count, examples};
  if (after != ranges_.end() && after->first == end &&
      is_alike(part, after->second)) {
    part.count += after->second.count;
    part.examples += after->second.examples;
    ranges_.erase(after);
  }
  if (before != ranges_.end() &&
      before->first + before->second.count == first &&
      is_alike(part, before->second)) {
    before->second.count += part.count;
    before->second.examples += part.examples;
  } else {
    ranges_.emplace(first, part);
  }
  return true;
}

void SizedRanges::keep(const Ranges& ranges) {
  const auto all = std::exchange(ranges_, {});
  for (const auto& [first, part] : all)
    for (const auto& [from, count] : ranges) {
      const std::int64_t begin = std::max(first, from);
      const std::int64_t end = std::min(first + part.count, from + count);
      if (begin < end)
        add(begin, end - begin,
            part.examples * static_cast<double>(end - begin) /
                static_cast<double>(part.count));
    }
}

bool SizedRanges::has(std::int64_t batch) const {
  auto at = ranges_.upper_bound(batch);
  if (at == ranges_.begin()) return false;
  --at;
  return batch < at->first + at->second.count;
}

std::int64_t SizedRanges::batches() const {
  std::int64_t sum = 0;
  for (const auto& [first, part] : ranges_) sum += part.count;
  return sum;
}

double SizedRanges::examples() const {
  double sum = 0;
  for (const auto& [first, part] : ranges_) sum += part.examples;
  return sum;
}

Json SizedRanges::to_json() const {
  Json all = Json::array();
  for (const auto& [first, part] : ranges_) {
    const auto whole = static_cast<std::int64_t>(part.examples);
    all.push_back({first, part.count});
    if (static_cast<double>(whole) == part.examples)
      all.back().push_back(whole);
    else
      all.back().push_back(part.examples);
  }
  return all;
}

}  // namespace dl::cluster
