#include "libcore/exchange/threshold_control.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/exchange/sample.h"

namespace dl::exchange {
namespace {

constexpr double kFirstDensity = 0.25;  // of a warm-up
constexpr std::size_t kSample = 4096;
constexpr std::size_t kFewest = 64;  // of a sample that a quantile goes by
constexpr double kFewQuanta = 4;     // a message of fewer says little

double clamped(double threshold) {
  return std::clamp(threshold, kMinThreshold, kMaxThreshold);
}

}  // namespace

ThresholdControl::ThresholdControl(const ThresholdRule& rule,
                                   std::vector<std::size_t> parts,
                                   std::int64_t warmup)
    : rule_(rule), warmup_(warmup), thresholds_(parts.size()) {
  for (const std::size_t elements : parts) {
    require(elements > 0, "empty part");
    parts_.push_back({elements, rule.initial,
                      std::sqrt(rule.min_density * rule.max_density)});
  }
}

bool ThresholdControl::samples() const {
  if (rule_.kind == ThresholdRule::Kind::kQuantile) return true;
  return rule_.kind == ThresholdRule::Kind::kTarget && messages_ < warmup_;
}

double ThresholdControl::target() const {
  if (messages_ >= warmup_) return rule_.min_density;
  const double done =
      static_cast<double>(messages_) / static_cast<double>(warmup_);
  return kFirstDensity * std::pow(rule_.min_density / kFirstDensity, done);
}

std::span<const float> ThresholdControl::next(std::span<const float> residual,
                                              std::span<const float> update) {
  std::size_t at = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    const std::size_t n = part.elements;
    if (samples())
      estimate(part, residual.subspan(at, n),
               update.empty() ? update : update.subspan(at, n),
               mix({static_cast<std::uint64_t>(messages_), p}));
    thresholds_[p] = static_cast<float>(part.threshold);
    at += n;
  }
  require(at == residual.size(), "a residual of all parts");
  return thresholds_;
}

void ThresholdControl::estimate(Part& part, std::span<const float> residual,
                                std::span<const float> update,
                                std::uint64_t stream) {
  Philox random(0, stream);
  sample_magnitudes(residual, update, kSample, random, sample_);
  const auto found = static_cast<double>(sample_.size());
  const double rank =
      std::max(target() * found, std::min<double>(kFewest, found / 2));
  const double reach = largest_reach(
      sample_, std::max<std::size_t>(static_cast<std::size_t>(rank), 1));
  if (!(reach > 0) || !std::isfinite(reach)) return;
  const double tail = std::log(target()) / std::log(rank / found);
  part.threshold = clamped(reach * tail);
}

void ThresholdControl::sent(std::span<const std::int64_t> quanta) {
  require(quanta.size() == parts_.size(), "quanta of each part");
  if (!samples())
    for (std::size_t p = 0; p < parts_.size(); ++p)
      judge(parts_[p], static_cast<double>(quanta[p]) /
                           static_cast<double>(parts_[p].elements));
  ++messages_;
}

void ThresholdControl::judge(Part& part, double density) const {
  const auto n = static_cast<double>(part.elements);
  if (rule_.kind == ThresholdRule::Kind::kTarget) {
    const double expected = n * rule_.min_density;
    if (expected < kFewQuanta) {
      const double step = std::clamp(
          (n * density - expected) / std::max(expected, 1.0), -1.0, 1.0);
      part.threshold = clamped(part.threshold * std::pow(rule_.decay, -step));
      return;
    }
    part.density = density;
  } else {
    const double middle = std::sqrt(rule_.min_density * rule_.max_density);
    const double weight = std::min(1.0, n * middle / kFewQuanta);
    part.density += weight * (density - part.density);
  }
  part.threshold = rule_.next(part.threshold, part.density);
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
  for (Part& part : parts_) part.threshold = clamped(threshold);
}

}  // namespace dl::exchange
