// The devices of `dl-worker --device auto`: every GPU, each with a process of
// its own.

#ifndef DL_LIBCORE_CLUSTER_WORKER_AUTO_DEVICE_H_
#define DL_LIBCORE_CLUSTER_WORKER_AUTO_DEVICE_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/cluster/worker/launcher.h"

namespace dl::cluster {

struct AutoDevices {
  std::vector<std::string> names;  // at least one name
  std::string why;                 // "2 GPUs, SLURM_LOCALID 3"
  bool broken = false;  // whether there may be a GPU that cannot be used
};

// "cpu" where there is no GPU; the GPU of a launcher's local rank, modulo their
// number; else all GPUs.  This process does not use CUDA and may still be
// divided.
// Throws Error: kUnavailable, no process can be made to count them in.
AutoDevices devices_of_auto(const LaunchedAs& place);

// Processes for several devices, one for each.
class WorkerProcesses {
 public:
  // Called by the only thread of a process: makes one for each device, where
  // it returns which that is, while the process that was goes on with nothing.
  // They have process groups of their own, so that ctrl-C reaches the first
  // process alone, and they are sent SIGTERM should that one die.  Linux only.
  // Throws Error: kUnavailable, a process cannot be made.
  std::optional<std::size_t> divide(const std::vector<std::string>& devices);
  ~WorkerProcesses();
  WorkerProcesses() = default;
  WorkerProcesses(const WorkerProcesses&) = delete;
  WorkerProcesses& operator=(const WorkerProcesses&) = delete;

  // Call in the original process: waits until all processes have ended,
  // whatever happens to one.
  // stop: a descriptor that becomes readable when all are to be sent SIGTERM.
  // Throws Error: of the status of the first that failed; kTryAgain, it was
  // killed.
  void wait(int stop, const Log& log);

 private:
  struct Process {
    pid_t pid;
    std::string device;
    int alive;  // pipe that ends with the process
  };
  void tell_all(int signal) const noexcept;
  void reap(std::size_t index, const Log& log);

  std::vector<Process> processes_;  // running processes
  bool told_ = false;               // whether they were told to stop
  int failed_ = 0;                  // exit status of the first that failed
  std::string failure_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_AUTO_DEVICE_H_
