// Steps of the outer optimizers.

#include "libcore/exchange/rules/outer_optimizer.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::exchange {

void OuterOptimizer::step(std::span<float> parameters,
                          std::span<const float> delta,
                          std::span<float> velocity) const {
  require(parameters.size() == delta.size(), "a delta of every parameter");
  require(velocity.size() == (has_velocity() ? delta.size() : 0),
          "a velocity of every parameter");
  if (kind == Kind::kReplace) {
    std::ranges::copy(delta, parameters.begin());
    return;
  }
  const auto zeta = static_cast<float>(rate);
  const auto eta = static_cast<float>(momentum);
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const float gain = zeta * delta[i];
    if (kind == Kind::kPlain) {
      parameters[i] += gain;
      continue;
    }
    velocity[i] = eta * velocity[i] + gain;
    parameters[i] +=
        kind == Kind::kMomentum ? velocity[i] : gain + eta * velocity[i];
  }
}

}  // namespace dl::exchange
