#include "libcore/cluster/protocol/value_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

#include "libcore/cluster/protocol/moments.h"

namespace dl::cluster {
namespace {

constexpr std::uint32_t kHalfOctave = 22;  // bits of float32 behind it
constexpr std::size_t kBinsOfSign = 512;

bool is_finite(float x) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  return (std::bit_cast<std::uint32_t>(x) & kExponent) != kExponent;
}

}  // namespace

void ValueCounts::add(std::span<const float> values) {
  const std::size_t stride = (values.size() + kMost - 1) / kMost;
  std::array<float, kMost> sample;
  std::size_t count = stride == 0 ? 0 : (values.size() + stride - 1) / stride;
  for (std::size_t i = 0; i < count; ++i) sample[i] = values[i * stride];
  const auto end = sample.begin() + static_cast<std::ptrdiff_t>(count);
  // All of them, not up to the first: several at once.
  if (static_cast<std::size_t>(std::count_if(sample.begin(), end, is_finite)) !=
      count)
    count = static_cast<std::size_t>(
        std::partition(sample.begin(), end, is_finite) - sample.begin());
  if (count == 0) return;
  Moments moments;
  moments.add(std::span(sample).first(count));
  low_ = count_ == 0 ? moments.low() : std::min(low_, moments.low());
  high_ = count_ == 0 ? moments.high() : std::max(high_, moments.high());
  count_ += static_cast<std::int64_t>(count);
  sum_ += moments.sum();
  squares_ += moments.squares();
  // Two tables: neighbors in a bin do not wait for each other.
  std::array<std::array<std::uint16_t, 2 * kBinsOfSign>, 2> counts{};
  for (std::size_t i = 0; i < count; ++i)
    ++counts[i % 2][std::bit_cast<std::uint32_t>(sample[i]) >> kHalfOctave];
  Bins bins;
  bins.reserve(kBinsOfSign);
  const auto take = [&](std::size_t at, int bin) {
    if (const int n = counts[0][at] + counts[1][at]; n > 0)
      bins.emplace_back(bin, n);
  };
  for (int bin = -kMostBin; bin < 0; ++bin)
    take(kBinsOfSign - 1 - static_cast<std::size_t>(bin), bin);
  for (int bin = 1; bin <= kMostBin; ++bin)
    take(static_cast<std::size_t>(bin) - 1, bin);
  add(bins);
}

void ValueCounts::add(const Bins& bins) {
  if (bins_.empty()) {
    bins_ = bins;
    return;
  }
  Bins all;
  all.reserve(bins_.size() + bins.size());
  std::ranges::merge(bins_, bins, std::back_inserter(all), {},
                     &Bins::value_type::first, &Bins::value_type::first);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].first == all[kept].first)
      all[kept].second += all[i].second;
    else
      all[++kept] = all[i];
  all.resize(kept + 1);
  bins_ = std::move(all);
}

void ValueCounts::add(const ValueCounts& other) {
  if (other.empty()) return;
  low_ = empty() ? other.low_ : std::min(low_, other.low_);
  high_ = empty() ? other.high_ : std::max(high_, other.high_);
  count_ += other.count_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  add(other.bins_);
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
  const std::size_t size = bins.size();
  all.bins_.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const Json& pair = bins.raw()[i];
    if (!pair.is_array() || pair.size() != 2) bins.at(i).fail("bin and count");
    // A view of each would spell its path: there are very many of them.
    const auto integer = [&](std::size_t k, std::int64_t min,
                             std::int64_t max) {
      const Json& value = pair[k];
      const bool is_plain =
          value.is_number_integer() &&
          (!value.is_number_unsigned() ||
           value.get<std::uint64_t>() <= static_cast<std::uint64_t>(max));
      const auto got = is_plain ? value.get<std::int64_t>() : min - 1;
      return got >= min && got <= max ? got
                                      : bins.at(i).at(k).integer(min, max);
    };
    all.bins_.emplace_back(static_cast<int>(integer(0, -kMostBin, kMostBin)),
                           integer(1, 0, std::int64_t{1} << 53));
  }
  std::ranges::stable_sort(all.bins_, {}, &Bins::value_type::first);
  return all;
}

}  // namespace dl::cluster
