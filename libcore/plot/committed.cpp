// Sets of mini-batches.

#include "libcore/plot/committed.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "libcore/base/error.h"

namespace dl::plot {

void Committed::add(std::int64_t epoch, double first, double end) {
  if (!(first < end)) return;
  Ends& ends = epochs_[epoch];
  const auto twice = [&](double batch) {
    throw Error{
        Code::kData,
        "mini-batch " + std::to_string(static_cast<std::int64_t>(batch)) +
            " of epoch " + std::to_string(epoch) + " is committed twice"};
  };
  auto after = ends.lower_bound(first);
  if (after != ends.end() && after->first < end) twice(after->first);
  const auto before = after == ends.begin() ? ends.end() : std::prev(after);
  if (before != ends.end() && before->second > first) twice(first);
  if (after != ends.end() && after->first == end) {
    end = after->second;
    after = ends.erase(after);
  }
  if (before != ends.end() && before->second == first)
    before->second = end;
  else
    ends.emplace_hint(after, first, end);
}

void Committed::go_back(std::int64_t epoch, const Parts& ranges) {
  epochs_.erase(epochs_.upper_bound(epoch), epochs_.end());
  const Ends all = std::exchange(epochs_[epoch], {});
  for (const auto& [first, end] : all)
    for (const Commit::Part& range : ranges)
      add(epoch, std::max(first, range.first), std::min(end, range.end));
}

}  // namespace dl::plot
