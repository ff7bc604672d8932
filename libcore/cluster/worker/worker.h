// A worker: joins a master, trains what it is given, and joins again if the
// master comes back.
//
// The calling thread owns the socket, sends the heartbeats and obeys; a
// second thread computes (trainer.h) and a third assembles mini-batches
// (batches.h).

#ifndef DL_LIBCORE_CLUSTER_WORKER_WORKER_H_
#define DL_LIBCORE_CLUSTER_WORKER_WORKER_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/transport/master_address.h"
#include "libcore/cluster/transport/own_address.h"
#include "libcore/cluster/transport/transport.h"
#include "libcore/cluster/worker/trainer.h"

namespace dl::cluster {

struct WorkerOptions {
  MasterAddress master;
  Security security;
  NetworkChoice network;  // network in which other workers reach this one
  std::string version;    // version of dl-tools
  std::string name;       // "": the master chooses it
  std::optional<int> rank = std::nullopt;  // rank given by a launcher
  TrainerOptions trainer;
  std::chrono::milliseconds wait{60000};        // for a master's first answer
  std::chrono::milliseconds wait_lost{300000};  // for a master that was there
  // Becomes readable when the worker is to finish its mini-batch and leave;
  // -1: never.
  int stop = -1;
  // Called when only the end of the computing thread is left, which may hang.
  std::function<void()> ending = nullptr;
};

// Returns when the master says that all is done.
// Throws Error: kTryAgain, told to stop, or the master was lost for good;
// kUnavailable, it never answered; whatever the master refuses or stops with;
// and what Trainer::run() throws.
void run_worker(const WorkerOptions& options, const Log& log);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_WORKER_H_
