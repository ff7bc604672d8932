// A simulated worker: what it keeps, how it answers the messages of a master,
// and its work, whose result is known.

#ifndef DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATED_WORKER_H_
#define DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATED_WORKER_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/worker/learner.h"
#include "libcore/cluster/worker/slot_keeper.h"
#include "libcore/cluster/worker/sync_keeper.h"
#include "libcore/io/hex.h"

namespace simulation {

using namespace dl::cluster;
using dl::Json;

// The id of a master's n-th start.
inline std::string run_id(std::uint64_t n) {
  return std::string(16, '0') + dl::io::hex(n);
}

inline constexpr std::size_t kParameters = 40;
inline constexpr std::size_t kStatistics = 2;
inline constexpr float kStep = 0.125F;  // dyadic: sums are exact

// Step of a replica on a mini-batch: a step that depends on the replica, so
// that order and starting point matter.
std::vector<float> step_of(const std::vector<float>& parameters,
                           std::int64_t epoch, std::int64_t batch);

// One with so many parameters, and a velocity for each.
dl::nn::NetworkConfig network();

class Branch;

// A worker: takes what the master sends and, when told to work, answers.
struct Worker {
  std::string peer;
  Hello hello;
  std::shared_ptr<Branch> branch;  // its place in the tree
  std::uint64_t number = 0;
  std::string run, replica_run;     // replica_run: its parameters are of it
  bool alive = true, deaf = false;  // deaf: its queue is full
  std::vector<float> parameters, residual = std::vector<float>(kParameters);
  std::vector<float> statistics;
  std::optional<SlotKeeper> keeper;     // averaging
  std::shared_ptr<SyncKeeper> in_step;  // sync; its parameters are below
  std::shared_ptr<std::vector<float>> shared;
  std::uint64_t version = 0;
  bool known = false;
  int states = 0;         // that came
  std::uint64_t cut = 0;  // the lease that was cut last
  std::deque<Task> tasks;
  std::int64_t done = 0;  // mini-batches of the first task
  struct Pending {
    std::uint64_t lease;
    std::int64_t batch;
    std::vector<std::byte> payload;
  };
  std::deque<Pending> pending;
  std::uint64_t progress = 0;
  int stop = -1, refused = -1;
  std::size_t in_flight = 1;
  bool out_of_step = false;
  bool mute = false;    // it does not say what its replica digests to
  bool poison = false;  // its next answer has NaN in it
  int period = 1;       // it does something each so many-th turn
  int turns = 0;
  int tells = 0;  // it says in each so many-th turn that it moves; 0: never so
  bool told_to_rejoin = false;
  // The loss that it finds with these parameters.
  std::function<double(std::uint64_t version)> loss = [](std::uint64_t) {
    return 0.25;
  };
  float exaggerates = 0;  // its next answer is so large, unless 0
  std::vector<Message> out;

  Worker();
  Worker(const Worker&);
  Worker& operator=(const Worker&);
  ~Worker();
  void receive(Received received, Mode mode);  // from the master
  void take(const Message& message, Mode mode);
  void work(Mode mode, const dl::data::Epoch& order);

 private:
  void apply(Apply apply);
  void average(const Task& task, const dl::data::Epoch& order);
  void find_gradient(const Task& task, const dl::data::Epoch& order);
  void share(const Task& task, const dl::data::Epoch& order);
};

}  // namespace simulation

#endif  // DL_TESTS_UNIT_CLUSTER_MASTER_SIMULATED_WORKER_H_
