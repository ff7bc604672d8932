#include "libcore/cluster/protocol/value_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace dl::cluster {
namespace {

constexpr std::uint32_t kHalfOctave = 22;  // bits of float32 behind it
constexpr std::size_t kBinsOfSign = 512;

}  // namespace

void ValueCounts::add(std::span<const float> values) {
  const std::size_t stride = (values.size() + kMost - 1) / kMost;
  std::array<std::uint32_t, 2 * kBinsOfSign> counts{};
  double sum = 0, squares = 0;
  float low = std::numeric_limits<float>::max(), high = -low;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    const float x = values[i];
    const std::uint32_t bin = std::bit_cast<std::uint32_t>(x) >> kHalfOctave;
    if ((bin & (kBinsOfSign - 1)) >= static_cast<std::uint32_t>(kMostBin))
      continue;  // infinite, or no number
    ++counts[bin];
    sum += x;
    squares += static_cast<double>(x) * x;
    low = std::min(low, x);
    high = std::max(high, x);
    ++count;
  }
  if (count == 0) return;
  low_ = count_ == 0 ? low : std::min<double>(low_, low);
  high_ = count_ == 0 ? high : std::max<double>(high_, high);
  count_ += count;
  sum_ += sum;
  squares_ += squares;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const int bin = static_cast<int>(i % kBinsOfSign) + 1;
    bins_[i < kBinsOfSign ? bin : -bin] += counts[i];
  }
}

void ValueCounts::add(const ValueCounts& other) {
  if (other.empty()) return;
  low_ = empty() ? other.low_ : std::min(low_, other.low_);
  high_ = empty() ? other.high_ : std::max(high_, other.high_);
  count_ += other.count_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  for (const auto& [bin, count] : other.bins_) bins_[bin] += count;
}

Json ValueCounts::to_json() const {
  const auto n = static_cast<double>(std::max<std::int64_t>(1, count_));
  Json bins = Json::array();
  for (const auto& [bin, count] : bins_) bins.push_back({bin, count});
  return {
      {"count", count_}, {"mean", sum_ / n}, {"rms", std::sqrt(squares_ / n)},
      {"low", low_},     {"high", high_},    {"bins", std::move(bins)}};
}

ValueCounts ValueCounts::from_json(const JsonView& json) {
  json.only({"count", "mean", "rms", "low", "high", "bins"});
  ValueCounts all;
  all.count_ = json.at("count").integer(0, std::int64_t{1} << 53);
  const auto n = static_cast<double>(all.count_);
  all.sum_ = json.at("mean").number() * n;
  const double rms = json.at("rms").number();
  all.squares_ = rms * rms * n;
  all.low_ = json.at("low").number();
  all.high_ = json.at("high").number();
  const JsonView bins = json.at("bins");
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const JsonView pair = bins.at(i);
    if (pair.size() != 2) pair.fail("bin and count");
    const std::int64_t bin = pair.at(0).integer(-kMostBin, kMostBin);
    all.bins_[static_cast<int>(bin)] +=
        pair.at(1).integer(0, std::int64_t{1} << 53);
  }
  return all;
}

}  // namespace dl::cluster
