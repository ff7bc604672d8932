// A run of dl-master with workers on simulated hosts.
//
// The master is libcore's coordinator with all that it drives, the workers'
// learners are libcore's as well, and what they say to each other are its
// messages; only the time that passes is a model's (hosts.h).  One thread; the
// same plan, model and limits give the same bytes.

#ifndef DL_TESTS_SIMULATION_TRAINING_H_
#define DL_TESTS_SIMULATION_TRAINING_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/cluster/master/coordinator.h"
#include "tests/simulation/looks.h"
#include "tests/simulation/world.h"

namespace simulated {

// An epoch that is over.
struct EpochResult {
  dl::cluster::EpochScore score;
  double seconds = 0;  // simulated, since the beginning
  dl::cluster::StalenessSummary staleness;
  std::uint64_t bytes_in = 0, bytes_out = 0;  // of the master, in the epoch

  dl::Json to_json() const;
};

class Training : private dl::cluster::MasterLink {
 public:
  // plan outlives it.  apply: each worker applies the updates that it is sent,
  // rather than look up what the master made of them; that takes longer and
  // comes to the same.  events: where the history goes, by simulated time.
  Training(const dl::cluster::RunConfig& plan, const HostModel& model,
           const dl::cluster::Limits& limits, bool apply, const dl::Log& log,
           const std::string& events = "/dev/null");
  ~Training() override;

  // Until the run is finished; told() of each epoch at its end.
  // Throws Error: as Coordinator.
  void run(const std::function<void(const EpochResult&)>& told,
           Looks looks = {});

  const dl::cluster::RunState& state() const { return context_.state; }
  // The report of dl-master.
  dl::Json report();

 private:
  std::optional<dl::cluster::RouterSocket::Incoming> receive(
      std::chrono::milliseconds, std::span<const int>) override {
    return std::nullopt;
  }
  bool send(const std::string& peer, const dl::cluster::SharedMessage& shared,
            const dl::cluster::Envelope& envelope) override;
  bool idle(const std::string& peer) const override;
  std::uint64_t bytes_in() const override {
    return world_.network.bytes_in(Network::kMaster);
  }
  std::uint64_t bytes_out() const override {
    return world_.network.bytes_out(Network::kMaster);
  }
  std::uint64_t dropped() const override { return 0; }

  void take(std::size_t worker, dl::cluster::Received received);
  void tick();
  void keep_history();
  void follow();
  void follow_epochs();

  History history_;
  World world_;
  QueueClock clock_;
  dl::cluster::EventLog events_;
  dl::cluster::RunContext context_;
  std::optional<dl::cluster::Coordinator> coordinator_;
  Line work_;  // the master's, on updates
  struct Peer {
    std::size_t waiting = 0;  // bytes on their way
  };
  std::vector<Peer> peers_;  // by host
  // State of the message that is being sent to all.
  struct Shared {
    std::uint64_t feed = 0;
    std::size_t bytes = 0;
    dl::cluster::SharedMessage message;
  } shared_;
  std::function<void(const EpochResult&)> told_;
  Looks looks_;
  std::size_t told_epochs_ = 0;
  dl::cluster::StalenessSummary staleness_;   // of epochs that are over
  std::uint64_t told_in_ = 0, told_out_ = 0;  // bytes
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_TRAINING_H_
