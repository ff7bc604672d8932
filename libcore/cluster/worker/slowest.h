// Expected time of the slowest of N workers, for which all others wait.

#ifndef DL_LIBCORE_CLUSTER_WORKER_SLOWEST_H_
#define DL_LIBCORE_CLUSTER_WORKER_SLOWEST_H_

#include <cstdint>
#include <span>

#include "libcore/cluster/protocol/probe.h"

namespace dl::cluster {

// times: seconds of successive mini-batches, at least one.  Returns the average
// time that the slowest of so many workers takes for one mini-batch each, if
// all their mini-batches are like these, in any order.
Slowest slowest_of(std::span<const double> times);

// slowest_of() for `count` (at least 1) successive mini-batches each.  If fewer
// than twice as many were measured, the time of half of them is used.
Slowest slowest_round_of(std::span<const double> times, std::int64_t count);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SLOWEST_H_
