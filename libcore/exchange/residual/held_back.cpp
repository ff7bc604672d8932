// Estimate of the residuals of other workers.

#include "libcore/exchange/residual/held_back.h"

#include <algorithm>
#include <cmath>

namespace dl::exchange {

namespace {

constexpr double kRounds = 32;
constexpr double kLooks = 4;          // in a round
constexpr double kWeight = 1.0 / 16;  // weight of one in the means

}  // namespace

bool HeldBack::listens(std::int64_t workers) {
  const double before = rounds_;
  rounds_ += 1 / static_cast<double>(std::max<std::int64_t>(workers - 1, 1));
  return std::floor(kLooks * before) != std::floor(kLooks * rounds_);
}

void HeldBack::hear(const Overlap& overlap) {
  ++looked_at_;
  const double share = std::max(1 / static_cast<double>(looked_at_), kWeight);
  product_ += share * (overlap.product - product_);
  square_ += share * (overlap.square - square_);
}

double HeldBack::times(std::int64_t workers) const {
  const double rho = square_ > 0 ? std::clamp(product_ / square_, 0.0, 1.0) : 0;
  const auto others = static_cast<double>(workers - 1);
  return others * rho * (1 - std::exp(-rounds_ / kRounds));
}

}  // namespace dl::exchange
