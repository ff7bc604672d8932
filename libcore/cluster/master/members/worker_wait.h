// Waiting for workers: until enough are there, and while none is left.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MEMBERS_WORKER_WAIT_H_
#define DL_LIBCORE_CLUSTER_MASTER_MEMBERS_WORKER_WAIT_H_

#include <string>

#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

constexpr double kSayWaiting = 10;  // seconds between two lines about waiting

class WorkerWait {
 public:
  // since: begin of the wait, maybe before there was a context.
  WorkerWait(RunContext& context, double since);

  // Whether enough workers were there once.
  // Throws Error: kUnavailable, they did not come within the limit.
  bool gathered();
  // Whether there has been nobody for as long as the limit allows.
  bool deserted();

 private:
  void say(const std::string& what, double left);

  RunContext& context_;
  const double started_;
  double alone_since_;  // time since which there is no worker
  double said_;
  bool gathered_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_WORKER_WAIT_H_
