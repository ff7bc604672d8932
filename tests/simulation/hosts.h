// A model of the hosts of a run: how long they compute, and how long what they
// send to each other takes.
//
// A host has a line with a direction in and one out.  Bytes go through each
// direction one after the other, in the order in which they come to it, and
// take the latency from line to line.  So what all workers send to the master,
// and it to them, queues at the master's line.

#ifndef DL_TESTS_SIMULATION_HOSTS_H_
#define DL_TESTS_SIMULATION_HOSTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/base/json.h"
#include "tests/simulation/event_queue.h"

namespace simulated {

// Times in seconds.
struct HostModel {
  std::int64_t workers = 1;
  double seconds = 0.01;  // of a mini-batch, the median
  // Standard deviations of its logarithm: from host to host, and of one host
  // from mini-batch to mini-batch.
  double host_spread = 0, batch_spread = 0;
  std::int64_t stragglers = 0;  // of the workers, the last ones ...
  double slower = 3;            // ... need so many times as long
  double gbit = 1;              // per second, each way, of each host's line
  double master_gbit = 0;       // of the master's; 0: as the others
  double latency = 1e-4;        // one way, the median
  double latency_spread = 0;    // as the others, from message to message
  double master_seconds = 0;    // of the master's work for an update
  double timer_slack = 5e-5;    // by which waits are longer, Linux's default
  std::uint64_t seed = 1;       // of what is drawn

  dl::Json to_json() const;
};

// Seconds of a worker's (from 1) mini-batch: its count-th mini-batch.
double seconds_of_batch(const HostModel& model, std::size_t worker,
                        std::uint64_t count);

// A resource that things go through one after the other.
class Line {
 public:
  // Comes at `from`, not earlier than what came before it, and takes so long.
  // Returns when it is through.
  double pass(double from, double seconds);

 private:
  double free_ = 0;
};

class Network {
 public:
  static constexpr std::size_t kMaster = 0;

  Network(const HostModel& model, EventQueue& queue);

  // From host to host, the workers' are from 1 on.  arrived() is called when
  // the last byte is there.
  void send(std::size_t from, std::size_t to, std::size_t bytes,
            std::function<void()> arrived);

  std::uint64_t bytes_in(std::size_t host) const { return hosts_[host].in; }
  std::uint64_t bytes_out(std::size_t host) const { return hosts_[host].out; }

 private:
  struct Host {
    double bytes_per_second = 0;
    Line line_in, line_out;
    std::uint64_t in = 0, out = 0;
    std::vector<double> entered;  // by host, what it sent there last
  };

  const HostModel model_;
  EventQueue& queue_;
  std::uint64_t messages_ = 0;
  std::vector<Host> hosts_;
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_HOSTS_H_
