// Choice of a few magnitudes for many.

#include "libcore/exchange/codec/levels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/base/error.h"

namespace dl::exchange {
namespace {

// Means of what lies nearest to each level; one with nothing stays.
std::vector<float> means(std::span<const float> magnitudes,
                         const Levels& levels) {
  std::vector<float> result(levels.values().begin(), levels.values().end());
  std::vector<double> sums(result.size());
  std::vector<std::int64_t> counts(result.size());
  for (const float m : magnitudes) {
    const std::size_t level = levels.nearest(m);
    sums[level] += static_cast<double>(m);
    ++counts[level];
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    if (counts[i] > 0)
      result[i] = static_cast<float>(sums[i] / static_cast<double>(counts[i]));
  std::ranges::sort(result);
  return result;
}

}  // namespace

Levels::Levels(std::vector<float> levels) : levels_(std::move(levels)) {
  require(!levels_.empty() && levels_.front() > 0 &&
              std::isfinite(levels_.back()) && std::ranges::is_sorted(levels_),
          "levels");
  for (std::size_t i = 0; i + 1 < levels_.size(); ++i)
    bounds_.push_back(levels_[i] / 2 + levels_[i + 1] / 2);
}

std::size_t Levels::nearest(float magnitude) const {
  // Halving without branches: where magnitudes fall is as good as random.
  std::size_t at = 0;
  for (std::size_t n = bounds_.size(); n > 0;) {
    const std::size_t half = (n + 1) / 2;
    at += magnitude > bounds_[at + half - 1] ? half : 0;
    n -= half;
  }
  return at;
}

Levels Levels::fitted(std::span<const float> magnitudes, std::size_t count) {
  constexpr std::size_t kSampled = 4096;
  constexpr int kIterations = 30;
  const std::size_t step = (magnitudes.size() + kSampled - 1) / kSampled;
  std::vector<float> sample;
  for (std::size_t i = 0; i < magnitudes.size(); i += step)
    sample.push_back(magnitudes[i]);
  std::ranges::sort(sample);
  std::vector<float> start;
  start.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    start.push_back(sample[(2 * i + 1) * sample.size() / (2 * count)]);
  Levels levels(std::move(start));
  if (count > 1)
    for (int round = 0; round < kIterations; ++round)
      levels = Levels(means(sample, levels));
  return Levels(means(magnitudes, levels));
}

Levels Levels::geometric(float first, float ratio, std::size_t count) {
  std::vector<float> levels = {first};
  while (levels.size() < count) levels.push_back(levels.back() * ratio);
  return Levels(std::move(levels));
}

}  // namespace dl::exchange
