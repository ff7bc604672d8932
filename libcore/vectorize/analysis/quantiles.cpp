#include "libcore/vectorize/analysis/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dl::vectorize {

void Quantiles::add(double value) {
  levels_[0].push_back(value);
  ++count_;
  for (std::size_t i = 0; i < levels_.size() && levels_[i].size() >= kExact;
       ++i)
    if (levels_.size() > 1 || levels_[i].size() > kExact) compact(i);
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
  std::ranges::sort(values);
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
  for (std::size_t i = 0; i < levels_.size(); ++i)
    if (levels_[i].size() > kExact) compact(i);
}

std::vector<std::pair<double, std::int64_t>> Quantiles::weighted() const {
  std::vector<std::pair<double, std::int64_t>> values;
  for (std::size_t i = 0; i < levels_.size(); ++i)
    for (const double value : levels_[i])
      values.emplace_back(value, std::int64_t{1} << i);
  std::ranges::sort(values);
  return values;
}

std::vector<double> Quantiles::shares_up_to(
    std::span<const double> bounds) const {
  std::vector<double> shares(bounds.size());
  if (count_ == 0) return shares;
  const auto values = weighted();
  std::int64_t before = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    for (; at < values.size() && values[at].first <= bounds[i]; ++at)
      before += values[at].second;
    shares[i] = static_cast<double>(before) / static_cast<double>(count_);
  }
  return shares;
}

double Quantiles::at(double share) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto values = weighted();
  const double rank = share * static_cast<double>(count_ - 1);
  const double below = std::floor(rank);
  const auto value_at = [&](double place) {
    double before = 0;
    for (const auto& [value, times] : values) {
      before += static_cast<double>(times);
      if (before > place) return value;
    }
    return values.back().first;
  };
  const double low = value_at(below), high = value_at(below + 1);
  return low == high ? low : low + (high - low) * (rank - below);
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
