#include "libcore/vectorize/recipe/even_sample.h"

#include <algorithm>
#include <span>
#include <utility>

#include "libcore/io/digest.h"

namespace dl::vectorize {

void EvenSample::add(std::int64_t group, SampledRecord record) {
  const std::string name = record.record.place();
  record.record.columns.detach();
  const Key key(io::digest(std::as_bytes(std::span(name))), record.number);
  groups_[group].emplace(key, std::move(record));
  if (++held_ <= most_) return;
  // One of the largest group goes.
  auto& largest = std::ranges::max_element(groups_, {}, [](const auto& own) {
                    return own.second.size();
                  })->second;
  largest.erase(std::prev(largest.end()));
  --held_;
}

std::vector<SampledRecord> EvenSample::take() && {
  std::vector<SampledRecord> all;
  for (auto& [group, records] : groups_) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (auto& [key, record] : records) all.push_back(std::move(record));
    std::ranges::sort(all.begin() + first, all.end(), {},
                      &SampledRecord::number);
  }
  return all;
}

}  // namespace dl::vectorize
