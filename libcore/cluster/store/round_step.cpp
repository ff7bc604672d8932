// The step of one averaging round.

#include "libcore/cluster/store/round_step.h"

#include "libcore/exchange/delta.h"

namespace dl::cluster {

void apply_average(std::span<const std::byte> delta,
                   const exchange::OuterOptimizer& outer,
                   const nn::Constrainer& constrain,
                   std::vector<float>& parameters, std::vector<float>& velocity,
                   std::vector<float>& average) {
  average.resize(parameters.size());
  exchange::read_delta(delta, average);
  if (outer.has_velocity()) velocity.resize(average.size());
  outer.step(parameters, average, velocity);
  // A replica's own parameters are constrained, and stay what they are.
  if (outer.kind != exchange::OuterOptimizer::Kind::kReplace)
    constrain(parameters);
}

}  // namespace dl::cluster
