// The bound on the size of a step.

#include "libcore/cluster/health/step_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "libcore/base/number_format.h"

namespace dl::cluster {

// Bits are ordered as magnitudes are, with what is not finite above all.
float largest_magnitude(std::span<const float> values) {
  std::uint32_t most = 0;
  for (const float v : values)
    most = std::max(most, std::bit_cast<std::uint32_t>(v) & 0x7fffffffU);
  const auto largest = std::bit_cast<float>(most);
  return std::isfinite(largest) ? largest
                                : std::numeric_limits<float>::infinity();
}

bool StepBound::fits(double step) const {
  return step <= kProportion * std::max(1.0, reach_) && step + reach_ <= kRoom;
}

std::string StepBound::fault_of(double step,
                                std::span<const float> parameters) {
  if (fits(step)) return "";
  reach_ = static_cast<double>(largest_magnitude(parameters));
  if (fits(step)) return "";
  return "it would move a parameter by " + format("%.2g", step) +
         ", and the largest of all is " + format("%.2g", reach_);
}

}  // namespace dl::cluster
