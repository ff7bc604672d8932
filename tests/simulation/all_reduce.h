// Synchronous training on simulated hosts with a dense all-reduce, as a
// yardstick: in a step every worker computes the gradient of a mini-batch of
// its own, and all go on from the mean of them.
//
// That mean is the gradient of the mini-batches taken together, and is computed
// so; batch normalization then sees all of them, too.

#ifndef DL_TESTS_SIMULATION_ALL_REDUCE_H_
#define DL_TESTS_SIMULATION_ALL_REDUCE_H_

#include <functional>
#include <string>

#include "libcore/cluster/run_config/run_config.h"
#include "tests/simulation/training.h"

namespace simulated {

// Ring: each worker passes parts of the sum on to the next one, 2 (N - 1)
// times.  Star: all send their gradients to the master, and it the mean to all.
enum class Reduce { kRing, kStar };

// Seconds that a step takes for the reduction. bytes: of a gradient.
double seconds_of_reduce(const HostModel& model, Reduce kind, double bytes);

// Trains and reports, with the bytes of the master's line, or in a ring of a
// worker's; and what dl-master would report. state: as it ended. Throws Error:
// kConfig, something is not finite.
dl::Json train_synchronously(
    const dl::cluster::RunConfig& plan, const HostModel& model, Reduce kind,
    const std::function<void(const EpochResult&)>& told,
    dl::cluster::RunState& state, const dl::Log& log, Looks looks = {});

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_ALL_REDUCE_H_
