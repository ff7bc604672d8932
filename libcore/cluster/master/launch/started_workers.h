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
    // The process of that name is gone.
    std::function<void(const std::string& name)> gone;
    // Shows a line that a worker elsewhere wrote.
    std::function<void(const std::string& line)> show;
  };
  // restarts: of a worker that dies again and again, and does no work between.
  StartedWorkers(WorkerCommand command, std::vector<WorkerPlace> places,
                 int restarts, Hooks hooks, Log log);
  ~StartedWorkers();  // finish(2 s)
  StartedWorkers(const StartedWorkers&) = delete;
  StartedWorkers& operator=(const StartedWorkers&) = delete;

  // Throws Error: kUnavailable, a program cannot be started.
  void start();

  struct Ended : ProcessEnd {
    pid_t pid;  // 0: on another host
    std::string name;
    std::size_t place;
    bool here() const { return pid != 0; }
  };
  // Workers that have ended since the last call; shows what workers wrote.
  std::vector<Ended> reap();
  // It is a member of the run, silent or not; it has trained something.
  void note_member(const std::string& name, bool silent);
  void note_work(const std::string& name);
  // Whether it means that another worker there would fare no better.
  static bool is_final(int status);
  // Has who ended started again, at once or a little later, or gives it up.
  void replace(const Ended& ended);
  // Starts whose time has come; who cannot be started fails again.
  void start_due();

  std::vector<std::string> running() const;  // names
  bool has_started(const std::string& name) const;
  // Whether one that is started, or will be, may have the name.
  bool may_be_called(const std::string& name) const;
  // Whether one of that name lives; of this host, with that process.
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

  // Outcome of each other host, as Report::hosts has it; null: there is none.
  // batches: committed, by worker's name.
  Json hosts(const std::map<std::string, std::int64_t>& batches) const;

 private:
  struct Place : WorkerPlace {
    std::optional<ChildProcess> process = {};
    std::string name = "";                // of the process
    std::string input = "";               // ... that it began with
    std::vector<std::string> names = {};  // of all that were here
    std::string unshown = "";             // the beginning of a line
    bool is_cut = false;                  // ... was shown, and not its rest
    LineLimit lines{1000};                // a minute
    int failures = 0;                     // in a row, without work
    int restarts = 0;
    std::optional<double> due = {};       // when it starts again
    bool speaks = false, worked = false;  // the process, as a member
    bool ever_joined = false, given_up = false;
    std::string last = "";  // how one ended that was to go on
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
