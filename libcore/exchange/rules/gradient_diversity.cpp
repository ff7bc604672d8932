// Measurement of the correlation of concurrent updates.

#include "libcore/exchange/rules/gradient_diversity.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold_reader.h"

namespace dl::exchange {

namespace {

// Below it the sum is scaled in memory, so that its numbers stay in range; a
// pass over all of them.
constexpr double kSmallScale = 1e-20;
// Lowest sum of weights, before an update that has seen all: not 0, as that
// would be such a pass for each.
constexpr double kLeastWeight = 0.1;
// Means are taken over so many updates for each that one has not seen, and over
// this number at least.
constexpr double kMemory = 0.5, kFewestSeen = 16;
// The same of sizes; an update counts as so many times the mean square at most.
constexpr double kMemoryOfSizes = 6, kMostOfMean = 4;
// Rounds of all workers before that: sizes may grow as a network begins to
// learn.
constexpr double kFirstRounds = 12;

}  // namespace

void GradientDiversity::forget() {
  std::ranges::fill(sum_, 0.0F);
  scale_ = 1;
  weight_ = product_ = square_ = usual_ = 0;
  share_of_size_ = 1;
  compared_ = added_ = 0;
}

void GradientDiversity::scale_down(double factor) {
  scale_ *= factor;
  weight_ *= factor;
  if (scale_ > kSmallScale) return;
  for (float& x : sum_) x *= static_cast<float>(scale_);
  scale_ = 1;
}

void GradientDiversity::compare_size(double square, double unseen) {
  const bool known =
      static_cast<double>(added_++) >= kFirstRounds * (unseen + 1) &&
      usual_ > 0;
  share_of_size_ = known && square > usual_ ? usual_ / square : 1;
  const double weight =
      std::max(1 / static_cast<double>(added_),
               1 / std::max(kFewestSeen, kMemoryOfSizes * (unseen + 1)));
  const double counted =
      known ? std::min(square, kMostOfMean * usual_) : square;
  usual_ += weight * (counted - usual_);
}

void GradientDiversity::add(std::span<const std::byte> message,
                            std::uint64_t others) {
  const auto unseen = static_cast<double>(others);
  const double held = std::max(unseen, kLeastWeight);
  if (weight_ > held) scale_down(held / weight_);
  ThresholdReader reader(message);
  require(reader.elements() == sum_.size(), "size of the update");
  double product = 0, square = 0;
  while (reader.next()) {
    const double size = reader.threshold();
    const auto step = static_cast<float>(size / scale_);
    double signs = 0;
    for (const Quantum& q : reader.quanta()) {
      float& at = sum_[q.index];
      signs += q.negative ? -at : at;
      at += q.negative ? -step : step;
    }
    product += size * signs;
    square += size * size * static_cast<double>(reader.quanta().size());
  }
  if (weight_ > 0 && others > 0) {
    ++compared_;
    const double share =
        std::max(1 / static_cast<double>(compared_),
                 1 / std::max(kFewestSeen, kMemory * (unseen + 1)));
    product_ += share * (product * scale_ / weight_ - product_);
    square_ += share * (square - square_);
  }
  compare_size(square, unseen);
  weight_ += 1;
}

double GradientDiversity::correlation() const {
  if (compared_ == 0) return 1;
  return square_ > 0 ? std::clamp(product_ / square_, 0.0, 1.0) : 0;
}

}  // namespace dl::exchange
