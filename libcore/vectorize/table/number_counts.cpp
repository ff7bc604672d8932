#include "libcore/vectorize/table/number_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

constexpr int kAllBits = std::numeric_limits<double>::digits;

// The number with so many bits, those behind cut off: of one that was cut
// before the same as of the whole.
double with_bits(double value, int bits) {
  const std::uint64_t rest = (std::uint64_t{1} << (kAllBits - bits)) - 1;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~rest) +
         0.0;  // no -0
}

}  // namespace

std::vector<double> even_shares(std::size_t parts) {
  constexpr double kPercent = 100;
  std::vector<double> shares = {0};
  const double step = kPercent / static_cast<double>(parts);
  for (std::size_t i = 1; i < parts; ++i)
    shares.push_back(static_cast<double>(i) * step / kPercent);
  if (parts > 0) shares.push_back(1);
  return shares;
}

void NumberCounts::add(double value, std::int64_t times) {
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += times;
  counts_[with_bits(value, bits_)] += times;
  while (counts_.size() > kMost) coarsen();
}

void NumberCounts::coarsen() {
  --bits_;
  const auto before = std::exchange(counts_, {});
  for (const auto& [value, times] : before)
    counts_[with_bits(value, bits_)] += times;
}

double NumberCounts::error() const {
  return bits_ == kAllBits ? 0 : std::ldexp(1.0, -bits_);
}

// The middle of the numbers that are one.
double NumberCounts::shown(double value) const {
  return std::clamp(value * (1 + error()), min_, max_);
}

std::vector<double> NumberCounts::quantiles(
    std::span<const double> shares) const {
  require(count_ > 0, "quantiles of nothing");
  std::vector<std::pair<double, std::int64_t>> sorted(counts_.begin(),
                                                      counts_.end());
  std::ranges::sort(sorted);
  std::size_t at = 0;
  std::int64_t before = 0;  // numbers below sorted[at]
  // rank: not below one that was asked before.
  const auto number = [&](std::int64_t rank) {
    while (before + sorted[at].second <= rank) before += sorted[at++].second;
    if (rank == 0) return min_;
    if (rank == count_ - 1) return max_;
    return shown(sorted[at].first);
  };
  std::vector<double> values;
  for (const double share : shares) {
    const double rank = share * static_cast<double>(count_ - 1);
    const auto whole = std::min(static_cast<std::int64_t>(rank), count_ - 1);
    const double rest = rank - static_cast<double>(whole);
    const double low = number(whole);
    const auto place = std::pair{at, before};
    const double high = number(std::min(whole + 1, count_ - 1));
    std::tie(at, before) = place;
    // As numpy rounds.
    values.push_back(rest < 0.5 ? low + (high - low) * rest
                                : high - (high - low) * (1 - rest));
  }
  return values;
}

Json NumberCounts::state() const {
  std::vector<std::pair<double, std::int64_t>> sorted(counts_.begin(),
                                                      counts_.end());
  std::ranges::sort(sorted);
  Json values = Json::array(), counts = Json::array();
  for (const auto& [value, times] : sorted) {
    values.push_back(value);
    counts.push_back(times);
  }
  Json json = {{"bits", bits_}, {"values", values}, {"counts", counts}};
  if (count_ > 0) json["range"] = {min_, max_};
  return json;
}

void NumberCounts::merge(const JsonView& state, std::int64_t records) {
  state.only({"bits", "values", "counts", "range"});
  const int bits = static_cast<int>(state.at("bits").integer(1, kAllBits));
  const JsonView values = state.at("values"), counts = state.at("counts");
  if (values.size() != counts.size() || values.size() > kMost)
    state.fail("as many values as counts, " + std::to_string(kMost) +
               " at most");
  if (values.size() == 0) return;
  constexpr double kLargest = std::numeric_limits<float>::max();
  const JsonView range = state.at("range");
  if (range.size() != 2) range.fail("two numbers");
  const double low = range.at(0).number(), high = range.at(1).number();
  if (!(-kLargest <= low && low <= high && high <= kLargest))
    range.fail("the least and the greatest number");
  while (bits_ > bits) coarsen();
  std::int64_t left = records;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t times = counts.at(i).integer(1, records);
    left -= times;
    if (left < 0)
      state.fail("counts of " + std::to_string(records) + " records");
    const double value = values.at(i).number();
    if (std::abs(value) > kLargest) values.at(i).fail("a number of 32 bits");
    counts_[with_bits(value, bits_)] += times;
    count_ += times;
  }
  min_ = std::min(min_, low);
  max_ = std::max(max_, high);
  while (counts_.size() > kMost) coarsen();
}

}  // namespace dl::vectorize
