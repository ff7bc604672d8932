#include "libcore/vectorize/analysis/quantiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace dl::vectorize {
namespace {

// Sorts by their bytes, the lowest first (radix sort): numbers that are told
// apart by few of them, as of a table, in few passes.
void sort_numbers(std::vector<double>& values) {
  constexpr std::size_t kFew = 256, kBytes = 8, kSigns = 63;
  if (values.size() < kFew) {
    std::ranges::sort(values);
    return;
  }
  std::vector<std::uint64_t> keys(values.size()), other(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    const std::uint64_t sign = bits >> kSigns;
    keys[i] = bits ^ ((0 - sign) | std::uint64_t{1} << kSigns);
  }
  std::array<std::array<std::uint32_t, 256>, kBytes> counts{};
  for (const std::uint64_t key : keys)
    for (std::size_t byte = 0; byte < kBytes; ++byte)
      ++counts[byte][(key >> (8 * byte)) & 255];
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    auto& places = counts[byte];
    if (places[(keys[0] >> (8 * byte)) & 255] == keys.size()) continue;
    std::uint32_t before = 0;
    for (std::uint32_t& place : places) {
      const std::uint32_t own = place;
      place = before;
      before += own;
    }
    for (const std::uint64_t key : keys)
      other[places[(key >> (8 * byte)) & 255]++] = key;
    keys.swap(other);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t sign = (keys[i] >> kSigns) ^ 1;
    values[i] = std::bit_cast<double>(
        keys[i] ^ ((0 - sign) | std::uint64_t{1} << kSigns));
  }
}

}  // namespace

void Quantiles::add(double value, std::int64_t times) {
  count_ += times;
  // A value of a level stands for as many as its bit.
  for (std::size_t i = 0; times > 0; ++i, times >>= 1) {
    if (levels_.size() == i) {
      levels_.emplace_back();
      odd_.push_back(false);
    }
    if ((times & 1) != 0) levels_[i].push_back(value);
  }
  if (moved_ == 0 ? levels_[0].size() > kExact
                  : levels_[0].size() >= kMostOfLevel)
    compact_full();
}

void Quantiles::compact_full() {
  for (std::size_t i = 0; i < levels_.size(); ++i)
    if (levels_[i].size() >= kMostOfLevel) compact(i);
}

void Quantiles::compact(std::size_t level) {
  if (level + 1 == levels_.size()) {
    levels_.emplace_back();
    odd_.push_back(false);
  }
  std::vector<double> values = std::move(levels_[level]);
  levels_[level].clear();
  // A rank moves by the weight of a value of this level at most.
  moved_ += std::int64_t{1} << level;
  sort_numbers(values);
  if (values.size() % 2 == 1) {
    levels_[level].push_back(values.back());
    values.pop_back();
  }
  const std::size_t first = odd_[level] ? 1 : 0;
  odd_[level] = !odd_[level];
  for (std::size_t i = first; i < values.size(); i += 2)
    levels_[level + 1].push_back(values[i]);
}

void Quantiles::merge(const Quantiles& next) {
  while (levels_.size() < next.levels_.size()) {
    levels_.emplace_back();
    odd_.push_back(false);
  }
  for (std::size_t i = 0; i < next.levels_.size(); ++i)
    levels_[i].insert(levels_[i].end(), next.levels_[i].begin(),
                      next.levels_[i].end());
  count_ += next.count_;
  moved_ += next.moved_;
  std::size_t held = 0;
  for (const auto& level : levels_) held += level.size();
  if (held > kExact) compact_full();
}

std::vector<std::pair<double, std::int64_t>> Quantiles::weighted() const {
  std::vector<std::pair<double, std::int64_t>> all;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const auto before = std::ssize(all);
    std::vector<double> values = levels_[i];
    sort_numbers(values);
    for (const double value : values)
      all.emplace_back(value, std::int64_t{1} << i);
    std::inplace_merge(all.begin(), all.begin() + before, all.end());
  }
  return all;
}

std::vector<double> Quantiles::shares_up_to(
    std::span<const double> bounds) const {
  std::vector<double> shares(bounds.size());
  if (count_ == 0) return shares;
  const auto& values = weighted();
  std::int64_t before = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    for (; at < values.size() && values[at].first <= bounds[i]; ++at)
      before += values[at].second;
    shares[i] = static_cast<double>(before) / static_cast<double>(count_);
  }
  return shares;
}

std::vector<double> Quantiles::at(std::span<const double> shares) const {
  std::vector<double> found(shares.size(),
                            std::numeric_limits<double>::quiet_NaN());
  if (count_ == 0) return found;
  const auto values = weighted();
  std::vector<std::int64_t> ends;  // values up to each
  ends.reserve(values.size());
  std::int64_t before = 0;
  for (const auto& [value, times] : values) ends.push_back(before += times);
  const auto value_at = [&](double place) {
    const auto end =
        std::ranges::upper_bound(ends, static_cast<std::int64_t>(place));
    return end == ends.end()
               ? values.back().first
               : values[static_cast<std::size_t>(end - ends.begin())].first;
  };
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double rank = shares[i] * static_cast<double>(count_ - 1);
    const double below = std::floor(rank);
    const double low = value_at(below), high = value_at(below + 1);
    found[i] = low == high ? low : low + (high - low) * (rank - below);
  }
  return found;
}

double Quantiles::error() const {
  return count_ == 0
             ? 0
             : static_cast<double>(moved_) / static_cast<double>(count_);
}

Json Quantiles::state() const {
  Quantiles kept = *this;
  const auto held = [&] {
    std::size_t all = 0;
    for (const auto& level : kept.levels_) all += level.size();
    return all;
  };
  // The lowest level that has a pair of values costs the least.
  while (held() > kKept)
    for (std::size_t i = 0; i < kept.levels_.size(); ++i)
      if (kept.levels_[i].size() > 1) {
        kept.compact(i);
        break;
      }
  for (auto& level : kept.levels_) std::ranges::sort(level);
  return {{"count", count_}, {"moved", kept.moved_}, {"levels", kept.levels_}};
}

Quantiles Quantiles::of_state(const JsonView& json) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  constexpr std::size_t kMostLevels = 53;
  json.only({"count", "moved", "levels"});
  Quantiles all;
  all.count_ = json.at("count").integer(0, kMost);
  all.moved_ = json.at("moved").integer(0, kMost);
  const JsonView levels = json.at("levels");
  if (levels.size() == 0 || levels.size() > kMostLevels)
    levels.fail("1.." + std::to_string(kMostLevels) + " levels");
  all.levels_.clear();
  double held = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    all.levels_.push_back(levels.at(i).numbers());
    held += std::ldexp(static_cast<double>(all.levels_.back().size()),
                       static_cast<int>(i));
  }
  if (held != static_cast<double>(all.count_))
    levels.fail("values that stand for " + std::to_string(all.count_));
  all.odd_.assign(all.levels_.size(), false);
  return all;
}

}  // namespace dl::vectorize
