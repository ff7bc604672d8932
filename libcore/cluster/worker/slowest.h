// How long those wait who wait for all: the slowest of so many workers.

#ifndef DL_LIBCORE_CLUSTER_WORKER_SLOWEST_H_
#define DL_LIBCORE_CLUSTER_WORKER_SLOWEST_H_

#include <cstdint>
#include <span>

#include "libcore/cluster/protocol/probe.h"

namespace dl::cluster {

// Seconds of mini-batches, one after the other, of which there is one at least.
// What the slowest of so many workers takes for one each, on average, if all
// their mini-batches are like these, in any order.
Slowest slowest_of(std::span<const double> times);

// The same for `count` (at least 1) successive mini-batches each.  Where fewer
// than twice as many were measured, what half of them take stands for them.
Slowest slowest_round_of(std::span<const double> times, std::int64_t count);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_SLOWEST_H_
