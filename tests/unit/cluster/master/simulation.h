// A master without sockets, files or networks: simulated workers on a clock
// that the test turns.

#ifndef DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATION_H_
#define DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATION_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/master/members/shutdown.h"
#include "libcore/cluster/tree/reducer.h"
#include "libcore/cluster/tree/relay.h"
#include "libcore/cluster/worker/learner.h"
#include "tests/unit/cluster/master/simulated_worker.h"
#include "tests/unit/scratch.h"

namespace simulation {

using namespace dl::cluster;
using dl::Json;

// The network between them.  What the master sends arrives at once; what a
// parent sends to a child waits for step().
class Link : public MasterLink {
 public:
  explicit Link(Mode mode) : mode_(mode) {}
  std::map<std::string, Worker> workers;
  std::string instructions;  // of workers that join
  int threads = 1;           // likewise
  std::uint64_t fed = 0;     // messages of the feed that the master sent
  // If set, it has what is sent to a worker, by `from` or the master (""), and
  // hands it over later.
  std::function<void(const std::string& from, Worker& to, Received)> carry;

  std::optional<RouterSocket::Incoming> receive(std::chrono::milliseconds,
                                                std::span<const int>) override;
  bool send(const std::string& peer, const SharedMessage& message,
            const Envelope& envelope) override;
  std::set<std::string> full;  // what is for these peers waits
  bool idle(const std::string& peer) const override;
  std::vector<RouterSocket::Ended> ended;
  std::vector<RouterSocket::Ended> take_ended() override {
    return std::exchange(ended, {});
  }
  std::uint64_t bytes_in() const override { return 0; }
  std::uint64_t bytes_out() const override { return 0; }
  std::uint64_t dropped() const override { return 0; }

  // One that is alive, or null.
  Worker* find(const std::string& peer);
  Mode mode() const { return mode_; }

 private:
  Mode mode_;
};

// A worker's way to other workers.
class Branch : public RelayLink, public ReducerLink {
 public:
  Branch(Link& network, std::string name)
      : network_(network), name_(std::move(name)) {}

  Relay relay{*this};
  Reducer reducer{*this};
  bool walled_in = false;                 // other workers do not reach it
  std::uint64_t messages = 0, bytes = 0;  // sent to children
  std::uint64_t results = 0;              // sent to other workers

  Listening listen() override { return {"tcp://" + name_, false}; }
  void connect(const std::string& endpoint) override;
  void send_to_parent(const Message& message,
                      const Envelope& envelope) override;
  bool send_to_child(const std::string& child, const Message& message,
                     const Envelope& envelope) override;
  // Takes a message of its parent.
  void arrive(Received received) { arrived_.push_back(std::move(received)); }

  void send_to_reducer(const std::string& endpoint,
                       SharedMessage message) override;
  // Passes the master's messages that are for the worker itself.
  void pass(std::vector<Message> given, Worker& worker);

  // Takes in at most so many messages of the parent, and of those that send
  // what is to be reduced.
  void step(Worker& worker, std::size_t most);

 private:
  Link& network_;
  std::string name_, parent_;
  bool connected_ = false;
  std::deque<Received> arrived_;
  std::deque<Message> results_;
  std::set<std::string> reducers_;  // endpoints
  int waited_ = 0;                  // turns, for an average
};

struct Folder : Scratch {
  std::vector<RunState> checkpoints;  // all that were ever saved
};

// A master over its saved state; a new one is a restart after kill -9.
struct Master {
  Link link;
  std::vector<std::string> said;
  EventLog events;
  std::optional<UpdateLog> updates;
  RunContext context;
  std::optional<Coordinator> coordinator;
  dl::data::Epoch order;
  double now = 100;
  int turns = 0;
  int records = 0;     // that were read for workers
  RunState beginning;  // before anything is learnt
  // Sync: it hears of averages a turn later than they are made.
  bool means_are_late = false;
  std::vector<std::pair<std::string, Message>> late;
  std::uint64_t vector_bytes = 0;  // that workers sent the master
  // How many messages of its parent a worker takes in at a time.
  std::function<std::size_t()> lag = [] { return std::size_t{1000}; };

  Master(const Settings& settings, const Limits& limits, Folder& folder,
         std::optional<RunState>& saved, std::uint64_t incarnation,
         std::int64_t examples, std::int64_t held_out = 0);
  ~Master();

  static Welcome welcome();
  static dl::data::Catalogue catalogue(std::int64_t examples);
  dl::Log log();

  Worker& join(const std::string& name, const std::string& host = "");
  // Sharing: a worker of a master that was killed connects again.
  Worker& join_again(const Worker& old);
  // It has lost the thread of the conversation.
  void join_anew(Worker& worker);
  void deliver(const Worker& worker, const Message& message);
  void flush(Worker& worker);
  bool over() const;
  // A tenth of a second: everyone who can works and beats.
  void turn(double seconds = 0.1);
};

int count_events(const Folder& folder, const std::string& name);

// Reads a run's history as dl-run(5) says: a resume makes void what was
// committed after its checkpoint.  Returns how often each mini-batch counts,
// by epoch.
std::map<std::int64_t, std::map<std::int64_t, int>> committed(
    const Folder& folder);

}  // namespace simulation

#endif  // DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATION_H_
