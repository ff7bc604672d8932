// The dl-worker processes that a master starts itself, on this host (--local)
// and through ssh on others (--hosts): started again where they die, given up
// where they do not live, ended with the run.
//
// Each start has a name of its own, so that none meets its predecessor's.
// Belongs to the thread that made it.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_STARTED_WORKERS_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_STARTED_WORKERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/base/line_limit.h"
#include "libcore/base/log.h"
#include "libcore/cluster/master/launch/child_process.h"
#include "libcore/cluster/master/launch/worker_command.h"

namespace dl::cluster {

class StartedWorkers {
 public:
  struct Hooks {
    // The lines that a worker's standard input begins with: its keys.
    std::function<std::string(const std::string& name)> input;
    // Notes that the process of this worker has ended.
    std::function<void(const std::string& name)> gone;
    // Shows a line that a worker on another host wrote.
    std::function<void(const std::string& line)> show;
  };
  // restarts: number of restarts in a row of a worker that dies without working
  // in between.
  StartedWorkers(WorkerCommand command, std::vector<WorkerPlace> places,
                 int restarts, Hooks hooks, Log log);
  ~StartedWorkers();  // as finish(2 s)
  StartedWorkers(const StartedWorkers&) = delete;
  StartedWorkers& operator=(const StartedWorkers&) = delete;

  // Throws Error: kUnavailable, a program cannot be started.
  void start();

  struct Ended : ProcessEnd {
    pid_t pid;  // process id; 0 on another host
    std::string name;
    std::size_t place;
    bool here() const { return pid != 0; }
  };
  // Returns the workers that ended since the last call, and shows output.
  std::vector<Ended> reap();
  // Notes that the worker is a member of the run, silent or not, and that it
  // has trained something.
  void note_member(const std::string& name, bool silent);
  void note_work(const std::string& name);
  // Whether the status means that another worker there would fare no better.
  static bool is_final(int status);
  // Has an ended worker started again, at once or a little later, or gives it
  // up.
  void replace(const Ended& ended);
  // Starts the workers that are due; one that cannot be started fails again.
  void start_due();

  std::vector<std::string> running() const;  // names of running workers
  bool has_started(const std::string& name) const;
  // Whether a worker that is started, or will be, may have the name.
  bool may_be_called(const std::string& name) const;
  // Whether a worker of this name lives; on this host with this process.
  bool is_running(const std::string& name, std::int64_t pid) const;
  // Whether a worker of another place is there, or will be.
  bool others_live(std::size_t place) const;
  // How many there will be for now: places that have not failed to join, and
  // are not given up.
  std::int64_t expected() const;
  bool all_given_up() const;

  // Waits for all to end, then sends SIGTERM, then SIGKILL; at once who has not
  // joined, or is silent.
  void finish(double seconds) noexcept;

  // Outcome of each other host, as Report::hosts has it; null if there is none.
  // batches: committed mini-batches by worker's name.
  Json hosts(const std::map<std::string, std::int64_t>& batches) const;

 private:
  struct Place : WorkerPlace {
    std::optional<ChildProcess> process = {};
    std::string name = "";   // name of the present process
    std::string input = "";  // beginning of the process's standard input
    // Names of all processes of this place.
    std::vector<std::string> names = {};
    std::string unshown = "";  // output that is no whole line yet
    bool is_cut = false;       // the line's beginning was shown
    LineLimit lines{1000};     // limit of lines a minute
    int failures = 0;          // failures in a row without work between
    int restarts = 0;
    std::optional<double> due = {};       // time of the next start
    bool speaks = false, worked = false;  // state of the process as a member
    bool ever_joined = false, given_up = false;
    std::string last = "";  // last end of a process that should have gone on
  };

  void start(Place& place);
  void show(Place& place, const std::string& text, bool whole);
  void show_line(Place& place, const std::string& line);
  std::string read_much(Place& place, double until);
  Place* find(const std::string& name);
  void wait_for_all(double seconds) noexcept;

  const WorkerCommand command_;
  std::vector<Place> places_;
  const int restarts_;
  const Hooks hooks_;
  const Log log_;
  int starts_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_STARTED_WORKERS_H_
