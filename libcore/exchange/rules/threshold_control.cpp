// Thresholds of the parts of a vector, updated after each message.

#include "libcore/exchange/rules/threshold_control.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/exchange/residual/sample.h"

namespace dl::exchange {
namespace {

constexpr double kFirstDensity = 0.25;  // of a warm-up
// A sample in which so many are expected to reach the threshold, if that is not
// too large; and the fewest that a quantile goes by.
constexpr double kExpected = 16, kFewest = 4;
constexpr double kSmallest = 4096, kLargest = 65536;
constexpr std::int64_t kFirstMessages = 4;  // that a first threshold is from
// Fewer quanta take less than what a message takes without any.
constexpr double kWorthAMessage = 256, kMostDense = 0.25;
constexpr double kUnknown = 1e-3;  // of a part that has nothing to send yet
constexpr double kFewQuanta = 4;   // a message of fewer says little

double clamped(double threshold) {
  return std::clamp(threshold, kMinThreshold, kMaxThreshold);
}

}  // namespace

ThresholdControl::ThresholdControl(const ThresholdRule& rule,
                                   std::span<const std::size_t> parts,
                                   std::int64_t warmup)
    : rule_(rule),
      warmup_(warmup),
      finds_first_(rule.finds_first()),
      thresholds_(parts.size()) {
  if (finds_first_) {
    const double all =
        static_cast<double>(std::accumulate(parts.begin(), parts.end(), 0UL));
    const double least = std::min(kWorthAMessage / all, kMostDense);
    rule_.max_density = std::max(rule_.max_density, least);
    rule_.min_density = rule_.max_density / 2;
  }
  for (const std::size_t elements : parts) {
    require(elements > 0, "empty part");
    parts_.push_back({elements, finds_first_ ? kUnknown : rule.initial});
  }
}

bool ThresholdControl::samples() const {
  if (rule_.kind == ThresholdRule::Kind::kQuantile) return true;
  if (finds_first_) return true;
  return rule_.kind == ThresholdRule::Kind::kTarget && messages_ < warmup_;
}

double ThresholdControl::target() const {
  if (rule_.finds_first()) return rule_.max_density;
  if (messages_ >= warmup_) return rule_.min_density;
  const double done =
      static_cast<double>(messages_) / static_cast<double>(warmup_);
  return kFirstDensity * std::pow(rule_.min_density / kFirstDensity, done);
}

std::size_t ThresholdControl::sample_size() const {
  return static_cast<std::size_t>(
      std::clamp(kExpected / target(), kSmallest, kLargest));
}

std::span<const float> ThresholdControl::next(const Look& look) {
  std::size_t at = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    if (samples())
      estimate(part, at, look, mix({static_cast<std::uint64_t>(messages_), p}));
    thresholds_[p] = static_cast<float>(part.threshold);
    at += part.elements;
  }
  return thresholds_;
}

std::span<const float> ThresholdControl::next(std::span<const float> residual,
                                              std::span<const float> update) {
  const std::size_t all = std::accumulate(
      parts_.begin(), parts_.end(), std::size_t{0},
      [](std::size_t sum, const Part& part) { return sum + part.elements; });
  require(all == residual.size(), "a residual of all parts");
  // Two references: more would be allocated.
  return next([&residual, &update](
                  std::size_t at, std::size_t elements, std::size_t size,
                  float floor, Philox& random, std::vector<float>& magnitudes) {
    return sample_magnitudes(
        residual.subspan(at, elements),
        update.empty() ? update : update.subspan(at, elements), size, floor,
        random, magnitudes);
  });
}

void ThresholdControl::estimate(Part& part, std::size_t at, const Look& look,
                                std::uint64_t stream) {
  const auto n = static_cast<double>(part.elements);
  const double share = n * target();
  // A fourth of the debt at a time: what is sent varies, and should not swing.
  const double wanted = part.elements <= sample_size()
                            ? share + part.owed
                            : std::clamp(share + part.owed / 4, share / 16,
                                         std::min(share * 16, n / 2));
  // Most are far below the threshold and need not be ordered.
  for (const double of_last : {0.8, 0.4, 0.0}) {
    const auto floor = static_cast<float>(of_last * part.threshold);
    Philox random(0, stream);
    const auto looked_at = static_cast<double>(
        look(at, part.elements, sample_size(), floor, random, sample_));
    const double rank = std::max(kFewest, wanted / n * looked_at);
    if (floor > 0 && static_cast<double>(sample_.size()) < rank) continue;
    if (const double found = find(part, wanted, looked_at); found > 0)
      part.threshold = clamped(found);
    return;
  }
}

double ThresholdControl::owed_at_most(const Part& part) const {
  return std::max(1.0, 4 * static_cast<double>(part.elements) * target());
}

// 0: it cannot be told.
double ThresholdControl::find(const Part& part, double wanted,
                              double looked_at) {
  std::erase(sample_, 0.0F);
  if (sample_.empty()) return 0;
  const auto n = static_cast<double>(part.elements);
  const auto reach = [&](double rank) {
    const auto most = static_cast<double>(sample_.size());
    const auto ranked = static_cast<std::size_t>(std::clamp(rank, 1.0, most));
    float found = largest_reach(sample_, ranked);
    if (!std::isfinite(found)) return 0.0;
    // Many that are equal, as after the first step of Adam: none of them, as
    // long as that can be made good.
    if (part.owed < owed_at_most(part) &&
        std::cmp_greater(std::ranges::count(sample_, found), ranked))
      found = std::nextafter(found, INFINITY);
    return static_cast<double>(found);
  };
  if (looked_at >= n)  // all of it: exactly so many, or none
    return wanted >= 1 ? reach(wanted) : reach(1) * (1 + 1e-3);
  const double rank = wanted / n * looked_at;
  if (static_cast<double>(sample_.size()) < rank)
    return reach(static_cast<double>(sample_.size()) / 2);
  if (rank >= kFewest) return reach(std::round(rank));
  // Too few for that: as if magnitudes were exponentially distributed.
  return reach(kFewest) * std::log(wanted / n) / std::log(kFewest / looked_at);
}

void ThresholdControl::sent(std::span<const std::int64_t> quanta) {
  require(quanta.size() == parts_.size(), "quanta of each part");
  finds_first_ = finds_first_ && messages_ + 1 < kFirstMessages;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto sent = static_cast<double>(quanta[p]);
    const auto n = static_cast<double>(parts_[p].elements);
    if (!samples()) {
      judge(parts_[p], sent / n);
      continue;
    }
    if (messages_ < warmup_) continue;  // a debt of denser times
    const double most = owed_at_most(parts_[p]);
    parts_[p].owed =
        std::clamp(parts_[p].owed + n * target() - sent, -4 * most, most);
  }
  ++messages_;
}

void ThresholdControl::judge(Part& part, double density) const {
  const auto n = static_cast<double>(part.elements);
  if (rule_.kind == ThresholdRule::Kind::kTarget) {
    const double expected = n * rule_.min_density;
    if (expected < kFewQuanta) {
      const double step = (n * density - expected) / std::max(expected, 1.0);
      part.threshold = clamped(
          part.threshold * std::pow(rule_.decay, -std::min(step, kFewQuanta)));
      return;
    }
    part.threshold = rule_.next(part.threshold, density);
    return;
  }
  part.threshold = rule_.next(part.threshold, density);
}

void ThresholdControl::scale(std::size_t part, double factor) {
  if (rule_.kind == ThresholdRule::Kind::kFixed) return;
  parts_[part].threshold = clamped(parts_[part].threshold * factor);
}

double ThresholdControl::mean() const {
  double sum = 0, elements = 0;
  for (const Part& part : parts_) {
    sum += part.threshold * static_cast<double>(part.elements);
    elements += static_cast<double>(part.elements);
  }
  return elements > 0 ? sum / elements : 0;
}

void ThresholdControl::start_from(double threshold) {
  finds_first_ = false;
  for (Part& part : parts_) part.threshold = clamped(threshold);
}

}  // namespace dl::exchange
