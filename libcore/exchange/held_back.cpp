#include "libcore/exchange/held_back.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/exchange/threshold_reader.h"

namespace dl::exchange {

namespace {

constexpr double kRounds = 32;
constexpr double kLooks = 4;          // in a round
constexpr double kMemory = 1.0 / 16;  // weight of one in the means

}  // namespace

void HeldBack::hear(std::span<const std::byte> message,
                    std::span<const float> residual, std::int64_t workers) {
  const double before = rounds_;
  rounds_ += 1 / static_cast<double>(std::max<std::int64_t>(workers - 1, 1));
  if (std::floor(kLooks * before) == std::floor(kLooks * rounds_)) return;
  ThresholdReader reader(message);
  require(reader.elements() == residual.size(), "size of the residual");
  double product = 0, square = 0;
  while (reader.next()) {
    const auto size = static_cast<double>(reader.threshold());
    double there = 0;
    for (const Quantum& q : reader.quanta())
      there += static_cast<double>(q.negative ? -residual[q.index]
                                              : residual[q.index]);
    product += size * there;
    square += size * size * static_cast<double>(reader.quanta().size());
  }
  ++looked_at_;
  const double share = std::max(1 / static_cast<double>(looked_at_), kMemory);
  product_ += share * (product - product_);
  square_ += share * (square - square_);
}

double HeldBack::times(std::int64_t workers) const {
  const double rho = square_ > 0 ? std::clamp(product_ / square_, 0.0, 1.0) : 0;
  const auto others = static_cast<double>(workers - 1);
  return others * rho * (1 - std::exp(-rounds_ / kRounds));
}

}  // namespace dl::exchange
