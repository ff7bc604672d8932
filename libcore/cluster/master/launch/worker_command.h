// The command that starts a worker, on this host or through ssh on another.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_COMMAND_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_COMMAND_H_

#include <string>
#include <vector>

namespace dl::cluster {

// A program of the toolkit: beside this one, else wherever PATH has it.
std::string program_beside(const std::string& name);

// Place where a worker is to run.
struct WorkerPlace {
  std::string host;  // name of the host for ssh; "": this host
  int local_rank = 0, local_size = 1;
};

// Places of workers: one for each of the hosts, and so many more on this one.
std::vector<WorkerPlace> worker_places(int local,
                                       const std::vector<std::string>& hosts);

struct WorkerCommand {
  // Address of the master, from this and from other hosts.
  std::string local_endpoint, endpoint;
  std::string rsh;  // "ssh -o BatchMode=yes"
  // Command that starts dl-worker on other hosts; "": the same as here.
  std::string remote;
  std::string device = "cpu", precision = "float32";
  // Threads on this and on other hosts; 0: the worker chooses.
  int local_threads = 1, threads = 0;
  bool keys = false;  // whether keys come on standard input
  bool insecure = false, quiet = true;
};

// The words of the command.
std::vector<std::string> words_of(const WorkerCommand& command,
                                  const WorkerPlace& place,
                                  const std::string& name);
// This process's environment without defaults of dl-worker's options, which are
// for workers that the user starts, and with the worker's number on this host.
std::vector<std::string> environment_of(const WorkerPlace& place);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_WORKER_COMMAND_H_
