// State that the parts of a simulation share.

#ifndef DL_TESTS_SIMULATION_WORLD_H_
#define DL_TESTS_SIMULATION_WORLD_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/wire.h"
#include "libcore/cluster/run_config/run_config.h"
#include "tests/simulation/event_queue.h"
#include "tests/simulation/examples.h"
#include "tests/simulation/history.h"
#include "tests/simulation/hosts.h"

namespace simulated {

class Worker;

struct World {
  World(const dl::cluster::RunConfig& the_plan, const HostModel& the_model,
        const dl::Log& the_log);
  ~World();

  const dl::cluster::RunConfig& plan;
  const HostModel model;
  const dl::Log log;
  EventQueue queue;
  Network network;
  Examples examples;
  // By host; null for the master's.
  std::vector<std::unique_ptr<Worker>> workers;
  // The master takes in a message of a worker.
  std::function<void(std::size_t worker, dl::cluster::Received)> to_master;
  History* history = nullptr;  // null: each worker applies updates itself
  double heartbeat = 2;
  bool star = true;  // the master sends the feed to each worker itself
};

// Bytes of a message on the wire.
std::size_t wire_bytes(const dl::cluster::Message& message);

// The number of a peer, which is its name.
inline std::size_t host_of(const std::string& peer) { return std::stoul(peer); }

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_WORLD_H_
