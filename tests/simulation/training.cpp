// Simulated runs: the event loop with a master and workers.

#include "tests/simulation/training.h"

#include <algorithm>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/cluster/master/health/own_loss.h"
#include "libcore/eval/model.h"
#include "tests/simulation/worker.h"

namespace simulated {

using namespace dl::cluster;
using dl::Json;

namespace {

constexpr double kTick = 0.05;  // as dl-master looks at the clock
// Bytes of a peer held in connections besides its queue.
constexpr std::size_t kHeld = std::size_t{1} << 20;

const std::string kRun(32, '0');

// Nobody is lost here, however long a mini-batch takes.
Limits limits_for(Limits limits, const HostModel& model) {
  limits.min_workers = model.workers;
  limits.wait = limits.lost_after = limits.stuck_after =
      std::numeric_limits<double>::max();
  limits.checkpoint_every = 0;
  return limits;
}

// Held-out data are evaluated here, at the end of an epoch and in no time.
Settings settings_for(Settings settings) {
  settings.metric = "loss";
  return settings;
}

}  // namespace

World::World(const RunConfig& the_plan, const HostModel& the_model,
             const dl::Log& the_log)
    : plan(the_plan),
      model(the_model),
      log(the_log),
      network(the_model, queue),
      examples(the_plan, the_log) {}

World::~World() = default;

std::size_t wire_bytes(const Message& message) {
  std::size_t bytes = kHeaderBytes + Json::to_msgpack(message.body).size();
  for (const auto& blob : message.blobs) bytes += blob.size();
  return bytes;
}

Json EpochResult::to_json() const {
  Json json = dl::cluster::to_json(score);
  json["seconds"] = seconds;
  json["staleness"] = staleness.to_json();
  json["bytes"] = {{"in", bytes_in}, {"out", bytes_out}};
  return json;
}

Training::Training(const RunConfig& plan, const HostModel& model,
                   const Limits& limits, bool apply, const dl::Log& log,
                   const std::string& events)
    : world_(plan, model, log),
      clock_(world_.queue),
      events_(events, kRun, 1, log, clock_),
      context_(settings_for(plan.settings), limits_for(limits, model), kRun, 1,
               events_, *this, log) {
  context_.training = plan.training->catalogue();
  context_.state = plan.start();
  context_.shared_updater = plan.shared_updater;
  if (!plan.shared_updater)
    context_.updater_elements = static_cast<std::size_t>(plan.updater_state);
  context_.subjects = dl::eval::subjects_of(plan.model.config, plan.model.data);
  context_.report.epochs = plan.settings.epochs;
  context_.report.expected_per_epoch = plan.training->examples();
  context_.report.parameters = plan.parameters;
  Hooks hooks;
  hooks.welcome = [&plan] { return plan.welcome(); };
  hooks.save = [](bool aside) {
    return std::make_unique<Saving>(aside, [] { return std::string(); });
  };
  hooks.keep_best = [] {};
  measure_losses(plan, context_);
  coordinator_.emplace(context_, hooks, 0, 0);
  if (!apply && plan.settings.mode == Mode::kSharing)
    world_.history = &history_;
  world_.heartbeat = limits.heartbeat;
  world_.star = !is_tree(limits.topology, model.workers);
  world_.to_master = [this](std::size_t worker, Received received) {
    take(worker, std::move(received));
  };
  peers_.resize(static_cast<std::size_t>(model.workers) + 1);
  world_.workers.push_back(nullptr);
  for (std::size_t i = 1; i < peers_.size(); ++i)
    world_.workers.push_back(std::make_unique<Worker>(i, world_));
}

Training::~Training() = default;

void Training::run(const std::function<void(const EpochResult&)>& told,
                   Looks looks) {
  told_ = told;
  looks_ = std::move(looks);
  for (std::size_t i = 1; i < peers_.size(); ++i) world_.workers[i]->join();
  world_.queue.at(kTick, [this] { tick(); });
  while (!coordinator_->finished()) world_.queue.next();
}

Json Training::report() {
  Report& report = context_.report;
  report.seconds = world_.queue.now();
  report.bytes_in = bytes_in();
  report.bytes_out = bytes_out();
  report.staleness = staleness_;
  return report.to_json(context_.state);
}

void Training::tick() {
  coordinator_->tick(world_.queue.now());
  follow();
  world_.queue.at(world_.queue.now() + kTick, [this] { tick(); });
}

// One message after the other, when the master has the time.
void Training::take(std::size_t worker, Received received) {
  const bool updates = received.message.type == MessageType::kUpdate ||
                       received.message.type == MessageType::kResult;
  const double now = world_.queue.now();
  const double done =
      work_.pass(now, updates ? world_.model.master_seconds : 0);
  const auto handle = [this, worker](Received each) {
    const bool beats = each.message.type == MessageType::kBeat;
    coordinator_->handle({std::to_string(worker), std::move(each)},
                         world_.queue.now());
    if (!beats) coordinator_->tick(world_.queue.now());
    follow();
  };
  if (done <= now) return handle(std::move(received));
  auto later = std::make_shared<Received>(std::move(received));
  world_.queue.at(done, [handle, later] { handle(std::move(*later)); });
}

bool Training::idle(const std::string& peer) const {
  return peers_[host_of(peer)].waiting <= kHeld;
}

bool Training::send(const std::string& peer, const SharedMessage& shared,
                    const Envelope& envelope) {
  const std::size_t host = host_of(peer);
  Peer& to = peers_[host];
  if (shared_.message != shared || shared_.feed != envelope.feed)
    shared_ = {envelope.feed, wire_bytes(*shared), shared};
  if (to.waiting > 0 && to.waiting + shared_.bytes > kMaxQueued) return false;
  if (shared->type == MessageType::kApply) keep_history();
  to.waiting += shared_.bytes;
  world_.network.send(Network::kMaster, host, shared_.bytes,
                      [this, host, envelope, bytes = shared_.bytes, shared] {
                        peers_[host].waiting -= bytes;
                        world_.workers[host]->receive(shared, envelope);
                      });
  return true;
}

// An update was applied, and is being told of.
void Training::keep_history() {
  const RunState& state = context_.state;
  if (world_.history && state.version > history_.newest())
    history_.add(state.version, state.parameters);
}

void Training::follow() {
  looks_.look(context_.report.batches, world_.queue.now(),
              [&] { return world_.examples.evaluate(context_.state); });
  follow_epochs();
}

void Training::follow_epochs() {
  auto& history = context_.state.history;
  if (history.size() == told_epochs_) return;
  told_epochs_ = history.size();
  history.back().metrics = world_.examples.evaluate(context_.state);
  EpochResult result;
  result.score = history.back();
  result.seconds = world_.queue.now();
  result.staleness = std::exchange(context_.report.staleness, {});
  staleness_.add(result.staleness);
  result.bytes_in = bytes_in() - told_in_;
  result.bytes_out = bytes_out() - told_out_;
  told_in_ = bytes_in();
  told_out_ = bytes_out();
  told_(result);
}

}  // namespace simulated
