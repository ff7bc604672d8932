// CPU and memory that a worker's process uses.

#ifndef DL_LIBCORE_CLUSTER_WORKER_PROCESS_USE_H_
#define DL_LIBCORE_CLUSTER_WORKER_PROCESS_USE_H_

#include "libcore/cluster/protocol/exchange_stats.h"

namespace dl::cluster {

class ProcessUse {
 public:
  // ExchangeStats::cpu since the last call, and ::memory now; nothing else.
  ExchangeStats take();

 private:
  double told_ = 0;  // CPU seconds
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_PROCESS_USE_H_
