// A worker of a simulated run.

#include "tests/simulation/worker.h"

#include <utility>

#include "libcore/base/error.h"
#include "libcore/cluster/settings/gradient_sharing.h"
#include "libcore/device/instructions.h"
#include "libcore/nn/update/warmup.h"

namespace simulated {

using namespace dl::cluster;
using dl::Code;
using dl::Error;

namespace {

// Shorter waits are rounding.
constexpr double kNoTime = 1e-9;

// A host's number is its port.
const std::string kEndpoint = "tcp://host:";

std::unique_ptr<Learner> make_learner(const World& world, Mailbox& mail,
                                      ParameterHistory* history) {
  const Settings& settings = world.plan.settings;
  const auto& updater = world.plan.shared_updater;
  const dl::nn::NetworkConfig network =
      dl::nn::with_warmup(world.plan.model.config, settings.lr_warmup);
  auto replica = std::make_unique<Replica>(
      updater || settings.mode == Mode::kSync ? without_updaters(network)
                                              : network,
      world.plan.model.normalizers, settings.batch, "cpu", 1);
  if (settings.mode == Mode::kAveraging)
    return make_averaging_learner(std::move(replica), settings, mail);
  if (settings.mode == Mode::kSync)
    return make_sync_learner(std::move(replica), network, 1, mail);
  return make_sharing_learner(std::move(replica), settings, updater, mail,
                              world.log, history);
}

}  // namespace

Worker::Worker(std::size_t number, World& world)
    : number_(number),
      world_(world),
      clock_(world.queue),
      mail_(clock_),
      relay_(*this),
      reducer_(*this) {
  if (world.history) history_.emplace(*world.history);
}

void Worker::join() {
  Hello hello;
  hello.name = hello.host = name();
  hello.process = number_;
  hello.pid = static_cast<std::int64_t>(number_);
  hello.device = "cpu";
  hello.instructions = dl::device::instruction_set();
  say(hello.to_message());
}

// --- What arrives -----------------------------------------------------------

void Worker::receive(SharedMessage message, const Envelope& envelope) {
  switch (message->type) {
    case MessageType::kWelcome:
      set_up(*message);
      break;
    case MessageType::kRefuse:
      throw Error{Code::kBug, "a worker was refused: " +
                                  Refuse::from_message(*message).reason};
    case MessageType::kStop:
      over_ = true;
      return;
    case MessageType::kPlace:
      relay_.place(Place::from_message(*message));
      break;
    case MessageType::kListen:
      reducer_.listens_at(relay_.listen(Listen::from_message(*message)));
      break;
    default:
      // In a star all comes in its turn.
      if (!world_.star)
        deliver(relay_.from_master({envelope, *message}));
      else if (message->type == MessageType::kApply)
        inbox_.push_back(std::move(message));
      else
        deliver({*message});
  }
  turn();
}

void Worker::set_up(const Message& message) {
  const Welcome welcome = Welcome::from_message(message);
  envelope_.run = welcome.run;
  envelope_.worker = welcome.worker;
  mail_.outbox.begin_session(1);
  relay_.begin_session(welcome.run, welcome.worker);
  reducer_.begin_session(welcome.sizes);
  learner_ = make_learner(world_, mail_, history_ ? &*history_ : nullptr);
  Ready ready;
  learner_->begin_session(welcome, ready);
  say(ready.to_message());
  beat();
}

// To the compute thread, but for what is the reducer's alone.
void Worker::deliver(std::vector<Message> messages) {
  for (Message& message : reducer_.from_master(std::move(messages)))
    inbox_.push_back(std::make_shared<const Message>(std::move(message)));
}

// --- What is sent -----------------------------------------------------------

void Worker::say(Message message) {
  const std::size_t bytes = wire_bytes(message);
  auto received =
      std::make_shared<Received>(Received{envelope_, std::move(message)});
  world_.network.send(number_, Network::kMaster, bytes, [this, received] {
    world_.to_master(number_, std::move(*received));
  });
}

void Worker::say_all() {
  bool more = true;
  const auto add = [&](std::vector<Message> messages) {
    for (Message& message : messages) say(std::move(message));
    more = more || !messages.empty();
  };
  while (std::exchange(more, false)) {
    while (auto message = mail_.outbox.pop(1))
      if (message->type == MessageType::kPart)
        reducer_.take_own(std::move(*message));
      else if (message->type == MessageType::kResult)
        reducer_.take_result(std::move(*message));
      else
        say(std::move(*message));
    while (reducer_.busy()) reducer_.poll();
    add(relay_.take_for_master());
    add(reducer_.take_for_master());
  }
}

void Worker::beat() {
  if (over_) return;
  Beat beat;
  beat.progress = mail_.progress;
  beat.exchange = mail_.tell_exchange();
  beat.feed = relay_.position();
  say(beat.to_message());
  world_.queue.at(world_.queue.now() + world_.heartbeat,
                  [this] { this->beat(); });
}

Listening Worker::listen() { return {kEndpoint + name(), false}; }

void Worker::connect(const std::string& endpoint) {
  parent_ = endpoint.empty() ? 0 : host_of(endpoint.substr(kEndpoint.size()));
  if (parent_ == 0) return;
  world_.queue.at(world_.queue.now() + 2 * world_.model.latency,
                  [this, parent = parent_] {
                    if (parent_ != parent) return;
                    relay_.parent_connected();
                    say_all();
                  });
}

void Worker::send_to_parent(const Message& message, const Envelope& envelope) {
  auto received = std::make_shared<Received>(Received{envelope, message});
  world_.network.send(
      number_, parent_, wire_bytes(message),
      [from = name(), received, &parent = *world_.workers[parent_]] {
        parent.relay_.from_child(from, *received);
        parent.say_all();
      });
}

bool Worker::send_to_child(const std::string& child, const Message& message,
                           const Envelope& envelope) {
  Worker& worker = *world_.workers[host_of(child)];
  if (worker.parent_ != number_) return false;
  auto received = std::make_shared<Received>(Received{envelope, message});
  world_.network.send(
      number_, worker.number_, wire_bytes(message),
      [from = number_, received, &worker] {
        if (worker.parent_ != from) return;
        worker.deliver(worker.relay_.from_parent(std::move(*received)));
        worker.turn();
      });
  return true;
}

void Worker::send_to_reducer(const std::string& endpoint,
                             dl::cluster::SharedMessage message) {
  Worker& worker = *world_.workers[host_of(endpoint.substr(kEndpoint.size()))];
  world_.network.send(number_, worker.number_, wire_bytes(*message),
                      [message, &worker] {
                        worker.reducer_.from_worker(*message);
                        worker.deliver({});
                        worker.turn();
                      });
}

// --- What the compute thread does -------------------------------------------

// As Trainer::run(), until there is nothing to do, or a mini-batch is begun.
void Worker::turn() {
  do {
    while (!computing_ && !inbox_.empty()) {
      const SharedMessage message = std::move(inbox_.front());
      inbox_.pop_front();
      take(*message);
    }
    if (!computing_ && can_step()) {
      const double patience = learner_->patience();
      if (patience > kNoTime)
        world_.queue.at(
            world_.queue.now() + patience + world_.model.timer_slack,
            [this] { turn(); });
      else
        begin_step();
    }
    say_all();
    deliver({});  // an average may lack nothing but what it has just given
  } while (!computing_ && !inbox_.empty());
}

void Worker::take(const Message& message) {
  switch (message.type) {
    case MessageType::kState:
      tasks_.clear();
      return learner_->take_state(State::from_message(message));
    case MessageType::kTask:
      tasks_.emplace_back().task = Task::from_message(message);
      return;
    case MessageType::kStale: {
      const Stale stale = Stale::from_message(message);
      drop_lease(stale.lease, stale.fence);
      return learner_->take(message);
    }
    default:
      return learner_->take(message);
  }
}

void Worker::drop_lease(std::uint64_t lease, std::uint64_t fence) {
  std::erase_if(tasks_, [&](const Work& work) {
    return work.task.lease == lease && work.task.fence == fence;
  });
}

bool Worker::can_step() const {
  return !tasks_.empty() && learner_->has(tasks_.front().task.version) &&
         learner_->can_train();
}

void Worker::begin_step() {
  Work& work = tasks_.front();
  try {
    if (!std::exchange(work.begun, true)) learner_->begin(work.task);
  } catch (const Superseded&) {
    tasks_.pop_front();
    return turn();
  }
  computing_ = true;
  batch_seconds_ = seconds_of_batch(world_.model, number_, ++batches_);
  world_.queue.at(world_.queue.now() + batch_seconds_, [this] { end_step(); });
}

void Worker::end_step() {
  computing_ = false;
  Work& work = tasks_.front();
  const auto& set = world_.examples.read(reader_, work.task.epoch, work.batch(),
                                         world_.plan.settings.batch);
  clock_.took(batch_seconds_);
  const std::string fault =
      learner_->train(work, learner_->replica().network().batch_of(set));
  clock_.took(0);
  ++mail_.progress;
  if (!fault.empty()) {
    const Task& task = work.task;
    mail_.outbox.push(
        Fault{task.lease, task.fence, work.batch(), fault}.to_message());
    drop_lease(task.lease, task.fence);
  } else if (work.done == work.task.count) {
    const Work done = std::move(work);
    tasks_.pop_front();
    learner_->finish(done);
  }
  turn();
}

}  // namespace simulated
