// A master without sockets, files or networks: simulated workers on a clock
// that the test turns.

#ifndef DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATION_H_
#define DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATION_H_

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/master/farewell.h"
#include "libcore/cluster/store/replay.h"
#include "libcore/cluster/tree/reducer.h"
#include "libcore/cluster/tree/relay.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/io/digest.h"
#include "tests/unit/cluster/master/simulated_worker.h"

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
                                                std::span<const int>) override {
    return std::nullopt;
  }
  bool send(const std::string& peer, const Message& message,
            const Envelope& envelope) override {
    Worker* worker = find(peer);
    if (!worker || worker->deaf) return false;
    fed += envelope.feed > 0 && message.type != MessageType::kState;
    if (carry)
      carry("", *worker, {envelope, message});
    else
      worker->receive({envelope, message}, mode_);
    return true;
  }
  std::set<std::string> full;  // what is for these peers waits
  bool idle(const std::string& peer) const override {
    return !full.contains(peer);
  }
  std::uint64_t bytes_in() const override { return 0; }
  std::uint64_t bytes_out() const override { return 0; }
  std::uint64_t dropped() const override { return 0; }

  // One that is alive, or null.
  Worker* find(const std::string& peer) {
    const auto found = workers.find(peer);
    return found == workers.end() || !found->second.alive ? nullptr
                                                          : &found->second;
  }
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
  void connect(const std::string& endpoint) override {
    parent_ = endpoint.empty() ? "" : endpoint.substr(6);
    connected_ = false;
    arrived_.clear();
  }
  void send_to_parent(const Message& message,
                      const Envelope& envelope) override {
    if (Worker* parent = network_.find(parent_))
      parent->branch->relay.from_child(name_, {envelope, message});
  }
  bool send_to_child(const std::string& child, const Message& message,
                     const Envelope& envelope) override {
    Worker* worker = network_.find(child);
    if (!worker || worker->branch->parent_ != name_) return false;
    ++messages;
    bytes += size_of(message);
    if (network_.carry)
      network_.carry(name_, *worker, {envelope, message});
    else
      worker->branch->arrive({envelope, message});
    return true;
  }
  // Of its parent.
  void arrive(Received received) { arrived_.push_back(std::move(received)); }

  void send_to_reducer(const std::string& endpoint,
                       SharedMessage message) override {
    reducers_.insert(endpoint);
    Worker* worker = network_.find(endpoint.substr(6));
    if (!worker || worker->branch->walled_in) return;
    ++results;
    worker->branch->results_.push_back(*message);
  }
  // What of messages of the master is for the worker itself.
  void pass(std::vector<Message> given, Worker& worker) {
    for (const Message& next : reducer.from_master(std::move(given))) {
      try {
        worker.take(next, network_.mode());
      } catch (const OutOfStep& error) {
        throw std::logic_error(name_ + ": " + error.why);
      }
    }
  }

  // Takes in at most so many messages of the parent, and of those that send
  // what is to be reduced.
  void step(Worker& worker, std::size_t most) {
    for (std::size_t i = 0; i < most && !results_.empty(); ++i) {
      reducer.from_worker(results_.front());
      results_.pop_front();
    }
    while (reducer.busy()) reducer.poll();
    pass({}, worker);
    // As if it had waited for long.
    waited_ = reducer.waits() ? waited_ + 1 : 0;
    if (waited_ > 200) reducer.give_up_round();
    for (const std::string& endpoint : std::set<std::string>(reducers_)) {
      const Worker* there = network_.find(endpoint.substr(6));
      if (there && !there->branch->walled_in) continue;
      reducers_.erase(endpoint);
      reducer.lost(endpoint);
    }
    Worker* parent = network_.find(parent_);
    if (!parent_.empty() && (!parent || parent->branch->walled_in))
      return relay.parent_lost("its parent is gone");
    if (!parent_.empty() && !std::exchange(connected_, true))
      relay.parent_connected();
    for (; most > 0 && !arrived_.empty(); --most) {
      const Received received = std::move(arrived_.front());
      arrived_.pop_front();
      pass(relay.from_parent(received), worker);
    }
  }

 private:
  Link& network_;
  std::string name_, parent_;
  bool connected_ = false;
  std::deque<Received> arrived_;
  std::deque<Message> results_;
  std::set<std::string> reducers_;  // endpoints
  int waited_ = 0;                  // turns, for an average
};

inline void Worker::receive(Received received, Mode mode) {
  const Message message = received.message;
  switch (message.type) {
    case MessageType::kPlace:
      return branch->relay.place(Place::from_message(message));
    case MessageType::kListen:
      return branch->reducer.listens_at(
          branch->relay.listen(Listen::from_message(message)));
    case MessageType::kWelcome: {
      const Welcome welcome = Welcome::from_message(message);
      branch->relay.begin_session(welcome.run, welcome.worker);
      branch->reducer.begin_session(welcome.sizes);
      return take(message, mode);
    }
    case MessageType::kStop:  // at once, as workers do
      return take(message, mode);
    default:
      break;
  }
  branch->pass(branch->relay.from_master(std::move(received)), *this);
}

struct Folder {
  std::string path;
  std::vector<RunState> checkpoints;  // all that were ever saved
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "dl-sim-XXXXXX").string();
    if (::mkdtemp(name.data())) path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
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
  int records = 0;     // that were read for workers
  RunState beginning;  // before anything is learnt
  // Sync: it hears of averages a turn later than they are made.
  bool means_are_late = false;
  std::vector<std::pair<std::string, Message>> late;
  // How many messages of its parent a worker takes in at a time.
  std::function<std::size_t()> lag = [] { return std::size_t{1000}; };

  Master(const Settings& settings, const Limits& limits, Folder& folder,
         std::optional<RunState>& saved, std::uint64_t incarnation,
         std::int64_t examples, std::int64_t held_out = 0)
      : link(settings.mode),
        events(folder.path + "/events.jsonl", run_id(incarnation), incarnation,
               log()),
        context(settings, limits, run_id(incarnation), incarnation, events,
                link, log()),
        order(catalogue(examples), settings.batch, settings.seed, 0, true) {
    context.training = catalogue(examples);
    if (held_out) context.evaluation = catalogue(held_out);
    context.updater_elements = 1;
    context.subjects = {{1, {}}};
    context.state.parameters.assign(kParameters, 1);
    if (in_rounds(settings.mode))
      context.state.statistics.assign(kStatistics, 1);
    if (in_rounds(settings.mode) &&
        settings.averaging.updater_state == UpdaterState::kAverage)
      context.state.updater_state.assign(kParameters, 0);
    if (settings.mode == Mode::kSync)
      context.state.updater = std::make_shared<dl::nn::HostUpdater>(network());
    beginning = context.state;
    if (saved) context.state = *saved;
    const LogIdentity identity{kParameters, 0};
    replay(folder.path, identity, context.state, kLastUpdate, log());
    updates.emplace(folder.path, identity, run_id(incarnation), log());
    updates->go_on(context.state.version);
    context.updates = &*updates;
    events.write(incarnation > 1 ? "resume" : "start",
                 {{"epoch", context.state.epoch},
                  {"committed", context.state.committed}});
    Hooks hooks;
    hooks.welcome = welcome;
    hooks.save = [this, &saved, &folder] {
      if (updates) updates->begin(context.state.version);
      if (updates && saved) updates->prune(saved->version);
      saved = context.state;
      folder.checkpoints.push_back(*saved);
      return "checkpoint";
    };
    hooks.go_back = [this, &folder]() -> std::optional<RunState> {
      const RunState& wrong = context.state;
      const std::uint64_t sound = wrong.watch.sound_version();
      RunState state = beginning;
      for (const RunState& each : folder.checkpoints)
        if (each.version <= sound) state = each;
      replay(folder.path, {kParameters, 0}, state, sound, log());
      state.version = wrong.version + 1;
      state.watch.start_again(state.version);
      state.step_factor = wrong.step_factor / 2;
      state.setbacks = wrong.setbacks + 1;
      return state;
    };
    hooks.keep_best = [] {};
    hooks.record = [this](const Fetch&) {
      ++records;
      return std::vector<std::byte>(1);
    };
    coordinator.emplace(context, hooks, now, now);
  }

  static Welcome welcome() {
    Welcome welcome;
    welcome.run = std::string(32, '0');
    welcome.sizes.parameters = kParameters;
    welcome.sizes.statistics = kStatistics;
    return welcome;
  }
  static dl::data::Catalogue catalogue(std::int64_t examples) {
    return {{std::vector<std::int64_t>{examples}}};
  }
  dl::Log log() {
    return [this](dl::Level, const std::string& line) { said.push_back(line); };
  }

  Worker& join(const std::string& name) {
    Worker& worker = link.workers[name];
    worker = Worker{};
    worker.peer = worker.hello.name = name;
    worker.hello.host = name;
    worker.hello.process = std::hash<std::string>{}(name);
    worker.hello.instructions = link.instructions;
    worker.hello.threads = link.threads;
    if (context.settings.sharing.staleness == 0) worker.in_flight = 1000;
    worker.keeper.emplace(context.settings.averaging);
    if (link.mode() == Mode::kSync) {
      worker.shared = std::make_shared<std::vector<float>>(kParameters);
      worker.in_step =
          std::make_shared<SyncKeeper>(network(), 1, *worker.shared);
    }
    worker.branch = std::make_shared<Branch>(link, name);
    deliver(worker, worker.hello.to_message());
    flush(worker);
    return worker;
  }
  // Sharing: a worker of a master that was killed connects again.
  Worker& join_again(const Worker& old) {
    Worker& worker = link.workers[old.peer];
    worker = old;
    worker.tasks.clear();
    worker.pending.clear();
    worker.out.clear();
    worker.done = 0;
    worker.branch = std::make_shared<Branch>(link, worker.peer);
    deliver(worker, worker.hello.to_message());
    flush(worker);
    return worker;
  }
  // It has lost the thread of the conversation.
  void join_anew(Worker& worker) {
    deliver(worker, Leave{"out of step", true}.to_message());
    worker.out_of_step = false;
    worker.tasks.clear();
    worker.out.clear();
    worker.branch = std::make_shared<Branch>(link, worker.peer);
    deliver(worker, worker.hello.to_message());
    flush(worker);
  }
  void deliver(const Worker& worker, const Message& message) {
    Envelope envelope;
    envelope.run = worker.run;
    coordinator->handle({worker.peer, {envelope, message}}, now);
  }
  void flush(Worker& worker) {
    const auto add = [&](std::vector<Message> messages) {
      for (Message& message : messages)
        worker.out.push_back(std::move(message));
    };
    for (std::size_t i = 0; i < worker.out.size(); ++i)
      if (worker.out[i].type == MessageType::kResult)
        worker.branch->reducer.take_result(worker.out[i]);
      else if (worker.out[i].type == MessageType::kPart)
        worker.branch->reducer.take_own(worker.out[i]);
      else
        deliver(worker, Message(worker.out[i]));
    worker.out.clear();
    add(worker.branch->relay.take_for_master());
    add(worker.branch->reducer.take_for_master());
    for (std::size_t i = 0; i < worker.out.size(); ++i)
      if (means_are_late && worker.out[i].type == MessageType::kMean)
        late.emplace_back(worker.peer, worker.out[i]);
      else
        deliver(worker, Message(worker.out[i]));
    worker.out.clear();
  }
  bool over() const {
    return coordinator->finished() || coordinator->stopped();
  }
  // A tenth of a second: everyone who can works and beats.
  void turn(double seconds = 0.1) {
    now += seconds;
    for (const auto& [peer, mean] : std::exchange(late, {}))
      if (const Worker* worker = link.find(peer)) deliver(*worker, mean);
    for (auto& [name, worker] : link.workers) {
      if (!worker.alive || worker.deaf || worker.refused >= 0) continue;
      worker.branch->step(worker, lag());
      if (++worker.turns % worker.period == 0)
        worker.work(context.settings.mode, order);
      if (worker.out_of_step) {
        join_anew(worker);
        continue;
      }
      Beat beat;
      beat.progress = worker.progress;
      beat.feed = worker.branch->relay.position();
      deliver(worker, beat.to_message());
      flush(worker);
    }
    coordinator->tick(now);
  }
};

inline int count_events(const Folder& folder, const std::string& name) {
  std::ifstream in(folder.path + "/events.jsonl");
  int count = 0;
  for (std::string line; std::getline(in, line);)
    count += Json::parse(line)["event"] == name;
  return count;
}

// Reads a run's history as dl-run(5) says: a resume makes void what was
// committed after its checkpoint.  Returns how often each mini-batch counts,
// by epoch.
inline std::map<std::int64_t, std::map<std::int64_t, int>> committed(
    const Folder& folder) {
  std::map<std::int64_t, std::map<std::int64_t, int>> counts;
  std::ifstream in(folder.path + "/events.jsonl");
  for (std::string line; std::getline(in, line);) {
    const Json event = Json::parse(line);
    const std::int64_t epoch = event.value("epoch", std::int64_t{0});
    if (event["event"] == "resume" || event["event"] == "setback") {
      counts.erase(counts.lower_bound(epoch), counts.end());
      for (const auto& range : event["committed"])
        for (std::int64_t i = 0; i < range[1].get<std::int64_t>(); ++i)
          ++counts[epoch][range[0].get<std::int64_t>() + i];
    } else if (event["event"] == "commit") {
      for (std::int64_t i = 0; i < event["count"].get<std::int64_t>(); ++i)
        ++counts[epoch][event["first"].get<std::int64_t>() + i];
    }
  }
  return counts;
}

}  // namespace simulation

#endif  // DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATION_H_
