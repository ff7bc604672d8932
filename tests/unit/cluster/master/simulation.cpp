#include "tests/unit/cluster/master/simulation.h"

#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "libcore/cluster/run_dir/replay.h"

namespace simulation {

std::optional<RouterSocket::Incoming> Link::receive(std::chrono::milliseconds,
                                                    std::span<const int>) {
  return std::nullopt;
}

bool Link::send(const std::string& peer, const SharedMessage& shared,
                const Envelope& envelope) {
  const Message& message = *shared;
  Worker* worker = find(peer);
  if (!worker || worker->deaf) return false;
  fed += envelope.feed > 0 && message.type != MessageType::kState;
  if (carry)
    carry("", *worker, {envelope, message});
  else
    worker->receive({envelope, message}, mode_);
  return true;
}

bool Link::idle(const std::string& peer) const { return !full.contains(peer); }

Worker* Link::find(const std::string& peer) {
  const auto found = workers.find(peer);
  return found == workers.end() || !found->second.alive ? nullptr
                                                        : &found->second;
}

void Branch::connect(const std::string& endpoint) {
  parent_ = endpoint.empty() ? "" : endpoint.substr(6);
  connected_ = false;
  arrived_.clear();
}

void Branch::send_to_parent(const Message& message, const Envelope& envelope) {
  if (Worker* parent = network_.find(parent_))
    parent->branch->relay.from_child(name_, {envelope, message});
}

bool Branch::send_to_child(const std::string& child, const Message& message,
                           const Envelope& envelope) {
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

void Branch::send_to_reducer(const std::string& endpoint,
                             SharedMessage message) {
  reducers_.insert(endpoint);
  Worker* worker = network_.find(endpoint.substr(6));
  if (!worker || worker->branch->walled_in) return;
  ++results;
  worker->branch->results_.push_back(*message);
}

void Branch::pass(std::vector<Message> given, Worker& worker) {
  for (const Message& next : reducer.from_master(std::move(given))) {
    try {
      worker.take(next, network_.mode());
    } catch (const OutOfStep& error) {
      throw std::logic_error(name_ + ": " + error.why);
    }
  }
}

void Branch::step(Worker& worker, std::size_t most) {
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

Master::Master(const Settings& settings, const Limits& limits, Folder& folder,
               std::optional<RunState>& saved, std::uint64_t incarnation,
               std::int64_t examples, std::int64_t held_out)
    : link(settings.mode),
      events(folder / "events.jsonl", run_id(incarnation), incarnation, log()),
      context(settings, limits, run_id(incarnation), incarnation, events, link,
              log()),
      order(catalogue(examples), settings.batch, settings.seed, 0, true) {
  context.training = catalogue(examples);
  if (held_out) context.evaluation = catalogue(held_out);
  context.updater_elements = 1;
  context.subjects = {{1, {}}};
  context.state.parameters.assign(kParameters, 1);
  if (in_rounds(settings.mode)) context.state.statistics.assign(kStatistics, 1);
  if (in_rounds(settings.mode) &&
      settings.averaging.updater_state == UpdaterState::kAverage)
    context.state.updater_state.assign(kParameters, 0);
  if (settings.mode == Mode::kSync)
    context.state.updater = std::make_shared<dl::nn::HostUpdater>(network());
  beginning = context.state;
  if (saved) context.state = *saved;
  const LogIdentity identity{kParameters, 0};
  replay(folder.path(), identity, context.state, kLastUpdate, log());
  updates.emplace(folder.path(), identity, run_id(incarnation), log());
  updates->go_on(context.state.version);
  context.updates = &*updates;
  events.write(
      incarnation > 1 ? "resume" : "start",
      {{"epoch", context.state.epoch}, {"committed", context.state.committed}});
  Hooks hooks;
  hooks.welcome = welcome;
  hooks.save = [this, &saved, &folder](bool aside) {
    if (updates) updates->begin(context.state.version);
    if (updates && saved) updates->prune(saved->version);
    saved = context.state;
    folder.checkpoints.push_back(*saved);
    return std::make_unique<Saving>(aside, [] { return "checkpoint"; });
  };
  hooks.go_back = [this, &folder]() -> std::optional<RunState> {
    const RunState& wrong = context.state;
    const std::uint64_t sound = wrong.watch.sound_version();
    RunState state = beginning;
    for (const RunState& each : folder.checkpoints)
      if (each.version <= sound) state = each;
    replay(folder.path(), {kParameters, 0}, state, sound, log());
    state.version = wrong.version + 1;
    state.watch.start_again(state.version, wrong.watch);
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

Master::~Master() = default;

Welcome Master::welcome() {
  Welcome welcome;
  welcome.run = std::string(32, '0');
  welcome.sizes.parameters = kParameters;
  welcome.sizes.statistics = kStatistics;
  return welcome;
}

dl::data::Catalogue Master::catalogue(std::int64_t examples) {
  return {{std::vector<std::int64_t>{examples}}};
}

dl::Log Master::log() {
  return [this](dl::Level, const std::string& line) { said.push_back(line); };
}

// Everybody has a host of its own, but where it is said.
Worker& Master::join(const std::string& name, const std::string& host) {
  Worker& worker = link.workers[name];
  worker = Worker{};
  worker.peer = worker.hello.name = name;
  worker.hello.host = host.empty() ? name : host;
  worker.hello.process = std::hash<std::string>{}(
      host.empty() ? name : name + std::to_string(now));
  worker.hello.instructions = link.instructions;
  worker.hello.threads = link.threads;
  if (context.settings.sharing.staleness == 0) worker.in_flight = 1000;
  worker.keeper.emplace(context.settings.averaging);
  if (link.mode() == Mode::kSync) {
    worker.shared = std::make_shared<std::vector<float>>(kParameters);
    worker.in_step = std::make_shared<SyncKeeper>(network(), 1, *worker.shared);
  }
  worker.branch = std::make_shared<Branch>(link, name);
  deliver(worker, worker.hello.to_message());
  flush(worker);
  return worker;
}

Worker& Master::join_again(const Worker& old) {
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

void Master::join_anew(Worker& worker) {
  deliver(worker, Leave{"out of step", true}.to_message());
  worker.out_of_step = false;
  worker.tasks.clear();
  worker.out.clear();
  worker.branch = std::make_shared<Branch>(link, worker.peer);
  deliver(worker, worker.hello.to_message());
  flush(worker);
}

void Master::deliver(const Worker& worker, const Message& message) {
  Envelope envelope;
  envelope.run = worker.run;
  for (const auto& blob : message.blobs) vector_bytes += blob.size();
  coordinator->handle({worker.peer, {envelope, message}}, now);
}

void Master::flush(Worker& worker) {
  const auto add = [&](std::vector<Message> messages) {
    for (Message& message : messages) worker.out.push_back(std::move(message));
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

bool Master::over() const {
  return coordinator->finished() || coordinator->stopped();
}

void Master::turn(double seconds) {
  now += seconds;
  for (const auto& [peer, mean] : std::exchange(late, {}))
    if (const Worker* worker = link.find(peer)) deliver(*worker, mean);
  for (auto& [name, worker] : link.workers) {
    if (!worker.alive || worker.deaf || worker.refused >= 0) continue;
    worker.branch->step(worker, lag());
    if (++worker.turns % worker.period == 0)
      worker.work(context.settings.mode, order);
    if (worker.tells > 0 && worker.turns % worker.tells == 0) ++worker.progress;
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
  // An end of a round beside the loop lasts two turns at most.
  if (++turns % 2 == 0)
    while (context.phase && context.phase->closing()) {
      std::this_thread::yield();
      coordinator->tick(now);
    }
}

void Worker::receive(Received received, Mode mode) {
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

int count_events(const Folder& folder, const std::string& name) {
  std::ifstream in(folder / "events.jsonl");
  int count = 0;
  for (std::string line; std::getline(in, line);)
    count += Json::parse(line)["event"] == name;
  return count;
}

std::map<std::int64_t, std::map<std::int64_t, int>> committed(
    const Folder& folder) {
  std::map<std::int64_t, std::map<std::int64_t, int>> counts;
  std::ifstream in(folder / "events.jsonl");
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
