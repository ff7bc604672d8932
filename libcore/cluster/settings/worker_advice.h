// The effect of the number of workers on learning, as far as it is known
// before it begins.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_WORKER_ADVICE_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_WORKER_ADVICE_H_

#include <cstdint>
#include <string>

#include "libcore/cluster/settings/settings.h"

namespace dl::cluster {

// "16 workers train 512 examples at a time; an update is some 15 to 31 updates
// old when it is applied": the mini-batch of all, and the staleness of sharing
// without a bound.
std::string together(const Settings& settings, std::int64_t workers);

// Advice for an epoch of so many mini-batches, or "".
std::string worker_advice(const Settings& settings, std::int64_t workers,
                          std::int64_t batches);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_WORKER_ADVICE_H_
