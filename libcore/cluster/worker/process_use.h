// CPU and memory that a worker's process uses.

#ifndef DL_LIBCORE_CLUSTER_WORKER_PROCESS_USE_H_
#define DL_LIBCORE_CLUSTER_WORKER_PROCESS_USE_H_

#include "libcore/base/clock.h"
#include "libcore/cluster/protocol/exchange_stats.h"

namespace dl::cluster {

class ProcessUse {
 public:
  explicit ProcessUse(dl::Clock& clock = monotonic_clock());

  // ExchangeStats::cpu and ::measured since the last call, ::memory now;
  // nothing else.  Nothing at all if that was just now.
  ExchangeStats take();

 private:
  dl::Clock& clock_;
  double told_;  // CPU seconds
  double told_at_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_PROCESS_USE_H_
