// Samples of an exact size from a stream.

#ifndef DL_LIBCORE_DATA_SHARDING_SYSTEMATIC_H_
#define DL_LIBCORE_DATA_SHARDING_SYSTEMATIC_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dl::data {

// Every example has the chance `fraction`, and after k of them k * fraction
// have been taken, rounded up or down (Deville's systematic sampling).
class SystematicSample {
 public:
  std::int64_t seen() const { return seen_; }

  // Whether the next example is taken.  chance: uniform in [0, 1).
  bool takes(double fraction, double chance) {
    constexpr double kRounding = 1e-9;
    const double before = static_cast<double>(seen_++) * fraction;
    const double whole = std::floor(before + kRounding);
    const double part = std::max(0.0, before - whole);
    const double over = before + fraction - (whole + 1);
    const bool ahead = static_cast<double>(taken_) > whole;
    bool take = false;
    if (over < -kRounding)
      take = !ahead && chance < fraction / (1 - part);
    else
      take = !ahead || chance * part < over - kRounding;
    taken_ += take ? 1 : 0;
    return take;
  }

 private:
  std::int64_t seen_ = 0, taken_ = 0;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_SYSTEMATIC_H_
