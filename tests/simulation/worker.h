// A worker of a simulation: the learner, relay and reducer of dl-worker, with
// messages in memory in place of its sockets, and events in place of its two
// threads.

#ifndef DL_TESTS_SIMULATION_WORKER_H_
#define DL_TESTS_SIMULATION_WORKER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/cluster/tree/reducer.h"
#include "libcore/cluster/tree/relay.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/mailbox.h"
#include "tests/simulation/world.h"

namespace simulated {

// The time of a worker.  A mini-batch is computed in one event, at its end:
// the first who looks meanwhile sees its beginning, the others its end.
class WorkerClock : public dl::Clock {
 public:
  explicit WorkerClock(const EventQueue& queue) : queue_(queue) {}
  double seconds() override { return queue_.now() - std::exchange(ago_, 0); }
  // Ends work that took this long.
  void took(double seconds) { ago_ = seconds; }

 private:
  const EventQueue& queue_;
  double ago_ = 0;
};

class Worker : private dl::cluster::RelayLink,
               private dl::cluster::ReducerLink {
 public:
  // number: of its host, from 1.
  Worker(std::size_t number, World& world);

  std::string name() const { return std::to_string(number_); }
  void join();  // says Hello

  using SharedMessage = std::shared_ptr<const dl::cluster::Message>;
  // A message of the master has arrived.
  void receive(SharedMessage message, const dl::cluster::Envelope& envelope);

 private:
  dl::cluster::Listening listen() override;
  void connect(const std::string& endpoint) override;
  void send_to_parent(const dl::cluster::Message& message,
                      const dl::cluster::Envelope& envelope) override;
  bool send_to_child(const std::string& child,
                     const dl::cluster::Message& message,
                     const dl::cluster::Envelope& envelope) override;
  void send_to_reducer(const std::string& endpoint,
                       dl::cluster::SharedMessage message) override;

  void set_up(const dl::cluster::Message& message);
  void deliver(std::vector<dl::cluster::Message> messages);
  void say(dl::cluster::Message message);
  void say_all();
  void beat();

  void turn();
  void take(const dl::cluster::Message& message);
  void drop_lease(std::uint64_t lease, std::uint64_t fence);
  bool can_step() const;
  void begin_step();
  void end_step();

  const std::size_t number_;
  World& world_;
  WorkerClock clock_;
  dl::cluster::Mailbox mail_;
  dl::cluster::Relay relay_;
  dl::cluster::Reducer reducer_;
  dl::cluster::Envelope envelope_;  // of what it says
  std::size_t parent_ = 0;
  std::optional<History::View> history_;
  std::unique_ptr<dl::cluster::Learner> learner_;

  std::deque<SharedMessage> inbox_;
  std::deque<dl::cluster::Work> tasks_;  // the front one is being worked on
  Examples::Reader reader_;
  bool computing_ = false, over_ = false;
  double batch_seconds_ = 0;   // of the mini-batch that is being computed
  std::uint64_t batches_ = 0;  // begun
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_WORKER_H_
