// A round of averaging, applied: the same for the master, for every worker and
// for who reads the round from the log again.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_ROUND_STEP_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_ROUND_STEP_H_

#include <cstddef>
#include <span>
#include <vector>

#include "libcore/exchange/rules/outer_optimizer.h"
#include "libcore/nn/update/constrainer.h"

namespace dl::cluster {

// The outer optimizer's step from a coded average, and the constraints after
// it. velocity: as many elements, or none for plain. Throws Error: kProtocol,
// the average does not decode; then nothing happened.
void apply_average(std::span<const std::byte> delta,
                   const exchange::OuterOptimizer& outer,
                   const nn::Constrainer& constrain,
                   std::vector<float>& parameters,
                   std::vector<float>& velocity);
// The step from the average itself, of as many elements; the new parameters
// take its place.
void apply_average(std::vector<float>& average,
                   const exchange::OuterOptimizer& outer,
                   const nn::Constrainer& constrain,
                   std::span<const float> parameters,
                   std::vector<float>& velocity);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_ROUND_STEP_H_
