// Weighted averages summed in a fixed order.

#include "libcore/exchange/rules/average.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "libcore/base/error.h"

namespace dl::exchange {
namespace {

// In blocks, so that the sums stay in the first cache.
constexpr std::size_t kSummedAtOnce = 1024;

// The size of the least group that has room for so many slots.
std::size_t group_of(std::size_t slots) {
  std::size_t size = kAverageGroup;
  while (size < slots) size *= kAverageGroup;
  return size;
}

// Leaves out what has no weight.
void check(WeightedSum& part, std::size_t elements, const std::string& what) {
  if (!(part.weight >= 0 && std::isfinite(part.weight)))
    throw Error{Code::kProtocol, "a weight that is no number >= 0"};
  if (part.weight == 0) part.values.clear();
  if (part.weight > 0 && part.values.size() != elements)
    throw Error{Code::kProtocol,
                what + " of " + std::to_string(part.values.size()) +
                    " values, want " + std::to_string(elements)};
  auto bad = std::count_if(part.values.begin(), part.values.end(),
                           [](float v) { return !std::isfinite(v); });
  if (bad > 0)
    throw Error{Code::kProtocol,
                what + " has " + std::to_string(bad) + " non-finite values"};
}

}  // namespace

Average::Average(std::size_t slots, std::size_t elements)
    : elements_(elements), all_(group_of(slots)), parts_(slots), put_(slots) {}

void Average::put(std::size_t slot, std::vector<float> values, double weight) {
  require(slot < put_.size() && !put_[slot], "a slot is averaged once");
  WeightedSum of{std::move(values), weight};
  check(of, elements_, "a replica");
  parts_[slot] = Part{std::move(of), 0};
  put_[slot] = true;
}

void Average::put_sum(std::size_t first, std::size_t count, WeightedSum sum) {
  const std::size_t slots = put_.size();
  require(first < slots && count <= slots, "a sum is of some of the slots");
  const std::size_t size = group_of(count);
  require(first % size == 0 && count == std::min(size, slots - first),
          "a sum is of a group");
  const auto begin = put_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  require(std::find(begin, end, true) == end, "a slot is averaged once");
  check(sum, elements_, "a sum of replicas");
  parts_[first] = Part{std::move(sum), count};
  std::fill(begin, end, true);
}

bool Average::complete() const {
  return std::find(put_.begin(), put_.end(), false) == put_.end();
}

const Average::Part* Average::whole(std::size_t first, std::size_t size) const {
  if (first == parts_.size() || !parts_[first]) return nullptr;
  const Part& part = *parts_[first];
  const std::size_t has = std::min(size, put_.size() - first);
  return (part.count == 0 ? size == 1 : part.count == has) ? &part : nullptr;
}

template <typename Visit, typename Descend>
void Average::walk(std::size_t first, std::size_t size, const Visit& visit,
                   const Descend& descend) const {
  const std::size_t step = size / kAverageGroup;
  const std::size_t end = std::min(first + size, put_.size());
  for (std::size_t at = first; at < end; at += step) {
    if (const Part* part = whole(at, step))
      visit(*part);
    else
      descend(at, step);
  }
}

double Average::weight(std::size_t first, std::size_t size) const {
  double sum = 0;
  walk(
      first, size, [&](const Part& part) { sum += part.of.weight; },
      [&](std::size_t at, std::size_t step) { sum += weight(at, step); });
  return sum;
}

// sums += elements from `at` on.
void Average::add(std::size_t first, std::size_t size, std::size_t at,
                  std::span<double> sums) const {
  walk(
      first, size,
      [&](const Part& part) {
        if (part.of.weight == 0) return;
        const double weight = part.count == 0 ? part.of.weight : 1;
        const float* values = part.of.values.data() + at;
        for (std::size_t i = 0; i < sums.size(); ++i)
          sums[i] += weight * static_cast<double>(values[i]);
      },
      [&](std::size_t group, std::size_t step) {
        std::array<double, kSummedAtOnce> own{};
        add(group, step, at, std::span(own).first(sums.size()));
        for (std::size_t i = 0; i < sums.size(); ++i)
          sums[i] += static_cast<double>(static_cast<float>(own[i]));
      });
}

std::vector<float> Average::total(double divisor) const {
  std::vector<float> total(elements_);
  std::array<double, kSummedAtOnce> block;
  for (std::size_t at = 0; at < elements_; at += kSummedAtOnce) {
    const auto sums =
        std::span(block).first(std::min(kSummedAtOnce, elements_ - at));
    std::ranges::fill(sums, 0.0);
    add(0, all_, at, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      total[at + i] = static_cast<float>(sums[i] / divisor);
  }
  return total;
}

WeightedSum Average::sum() const {
  require(complete(), "a sum of all slots");
  if (const Part* part = whole(0, all_)) return part->of;
  const double all = weight(0, all_);
  if (all == 0) return {};
  return {total(1), all};
}

std::vector<float> Average::result() const {
  require(complete() && !whole(0, all_), "an average of all slots");
  const double all = weight(0, all_);
  require(all > 0, "an average has weight");
  return total(all);
}

}  // namespace dl::exchange
