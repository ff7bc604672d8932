// The workers that a master starts itself, as members of its run: they get
// keys, their ends are told to the run, and who does not come is not waited
// for.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_LAUNCHED_WORKERS_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_LAUNCHED_WORKERS_H_

#include <map>
#include <string>
#include <vector>

#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/master/launch/started_workers.h"
#include "libcore/cluster/run_config/master_options.h"
#include "libcore/cluster/transport/transport.h"

namespace dl::cluster {

class LaunchedWorkers {
 public:
  // Starts all workers.  told: address of the socket for other hosts.
  // local_threads: threads of a worker of this host.  Both references must
  // outlive this object.
  // Throws Error: kUnavailable, a program cannot be started.
  LaunchedWorkers(const MasterOptions& options, RouterSocket& socket,
                  const std::string& told, int local_threads, const Log& log);

  // First message of a worker, one of these or another, before the run begins;
  // nothing: it is to stop. Throws Error: kUnavailable, none came within wait
  // seconds; as look_after().
  std::optional<RouterSocket::Incoming> first_word(SocketLink& link,
                                                   double wait);
  // Notes which workers have ended, and starts others in their place.  Null:
  // there is no run yet.
  // Throws Error: kUnavailable, none lives; of the status of the last worker,
  // one of this host that would not fare better another time.
  void look_after(Coordinator* coordinator, RunContext* context);
  // look_after() while the run stops: no worker is replaced.
  void let_go(Coordinator& coordinator);

  // See StartedWorkers.
  std::vector<StartedWorkers::Ended> reap() { return workers_.reap(); }
  bool has(const std::string& name) const { return workers_.has_started(name); }
  // Whether the name belongs to one of these workers, and this key or process
  // does not.
  bool reserves(const Hello& hello, const std::string& key) const;
  void finish(double seconds) noexcept { workers_.finish(seconds); }
  Json hosts(const std::map<std::string, std::int64_t>& batches) const {
    return workers_.hosts(batches);
  }

 private:
  StartedWorkers::Hooks hooks();
  std::string hint() const;
  void note_standing(RunContext& context);
  std::vector<StartedWorkers::Ended> take_ended(Coordinator* coordinator);
  bool anybody_but(const StartedWorkers::Ended& ended,
                   RunContext* context) const;

  const MasterOptions& options_;
  RouterSocket& socket_;
  const Log& log_;
  std::map<std::string, std::string> keys_;  // public keys, by worker's name
  StartedWorkers workers_;
  double next_look_ = 0;  // time of the next look
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_LAUNCHED_WORKERS_H_
