// The command that starts a worker, on this host or through ssh on another.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_COMMAND_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_COMMAND_H_

#include <string>
#include <vector>

namespace dl::cluster {

// Where a worker is to be.
struct WorkerPlace {
  std::string host;  // as ssh takes it; "": this one
  int local_rank = 0, local_size = 1;
};

// Places of workers: one for each of the hosts, and so many more on this one.
std::vector<WorkerPlace> worker_places(int local,
                                       const std::vector<std::string>& hosts);

struct WorkerCommand {
  std::string local_endpoint, endpoint;  // of the master, from here and there
  std::string rsh;                       // "ssh -o BatchMode=yes"
  std::string remote;  // what starts dl-worker there; "": as here
  std::string device = "cpu", precision = "float32";
  int local_threads = 1, threads = 0;  // here and there; 0: as it finds
  bool keys = false;                   // on standard input
  bool insecure = false, quiet = true;
};

// The words of it.
std::vector<std::string> words_of(const WorkerCommand& command,
                                  const WorkerPlace& place,
                                  const std::string& name);
// Ours without the defaults of dl-worker's options, which are for workers that
// the user starts; with what tells the worker which of this host's it is.
std::vector<std::string> environment_of(const WorkerPlace& place);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_COMMAND_H_
