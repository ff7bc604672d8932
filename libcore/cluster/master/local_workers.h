// dl-worker processes on this host, for dl-master --local N.
//
// They get a process group of their own, so that ctrl-C reaches the master
// alone, which sees to an orderly end; and they are sent SIGTERM should the
// master die.  Linux only.  Belongs to the thread that made it.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LOCAL_WORKERS_H_
#define DL_LIBCORE_CLUSTER_MASTER_LOCAL_WORKERS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/process_end.h"

namespace dl::cluster {

class LocalWorkers {
 public:
  struct Command {
    std::string endpoint;  // "ipc:///..."
    std::string device = "cpu", precision = "float32";
    int threads = 1;
  };
  // Starts none yet.
  explicit LocalWorkers(Command command);
  ~LocalWorkers();  // finish(2 s)
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;

  // Throws Error: kUnavailable, the program cannot be started.
  void start(int count);

  struct Ended : ProcessEnd {
    pid_t pid;
    std::string name;
  };
  // Who has ended since the last call.
  std::vector<Ended> reap();
  std::size_t running() const { return processes_.size(); }

  // Waits for all to end, then sends SIGTERM, then SIGKILL.
  void finish(double seconds) noexcept;

 private:
  void wait_for_all(double seconds) noexcept;

  Command command_;
  struct Process {
    pid_t pid;
    std::string name;
  };
  std::vector<Process> processes_;
  int started_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LOCAL_WORKERS_H_
