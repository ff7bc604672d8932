#include "libcore/cluster/health/caution.h"

#include <algorithm>
#include <cmath>

namespace dl::cluster {

namespace {

constexpr double kMostRounds = 32;
constexpr double kFarOut = 5;
constexpr double kGivenBack = 0.2;
constexpr std::int64_t kFewest = 8;      // losses of a block
constexpr std::size_t kBlocks = 8;       // that a new one is compared with
constexpr double kSmoothVariance = 0.1;  // weight of a block in the variance
constexpr double kMostVaried = 4;        // ... which a jump must not pass for

}  // namespace

void Caution::add(double loss, std::uint64_t staleness) {
  const auto round = static_cast<double>(staleness) + 1;
  correlation_ *= std::exp(-1 / (rounds_ * round));
  sum_ += loss;
  squares_ += loss * loss;
  ++count_;
  if (count_ >= kFewest && static_cast<double>(count_) >= round / 4)
    close_block();
}

// Many blocks tell of one rise: it is another one where much was trusted again.
void Caution::rise() {
  if (correlation_ < 0.5) rounds_ = std::min(2 * rounds_, kMostRounds);
  correlation_ = 1;
}

void Caution::close_block() {
  const auto n = static_cast<double>(count_);
  const double mean = sum_ / n;
  const double spread =
      std::max(0.0, (squares_ / n - mean * mean) * n / (n - 1));
  if (first_) {
    const double low = *std::ranges::min_element(means_);
    const double noise = kFarOut * std::sqrt(variance_ / n);
    const bool stands_out =
        mean - low > std::max(noise, kGivenBack * (*first_ - low));
    if (stands_out && stood_out_) rise();
    stood_out_ = stands_out;
  } else {
    first_ = mean;
  }
  variance_ = variance_ > 0
                  ? variance_ + kSmoothVariance *
                                    (std::min(spread, kMostVaried * variance_) -
                                     variance_)
                  : spread;
  means_.push_back(mean);
  if (means_.size() > kBlocks) means_.pop_front();
  sum_ = squares_ = 0;
  count_ = 0;
}

}  // namespace dl::cluster
