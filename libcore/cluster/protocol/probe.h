// Probes that tell the master whether more hosts pay: two
// messages of dl-protocol(7), and who answers.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_PROBE_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_PROBE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

// The slots of a round of sync that is rehearsed: one of each of two hosts.
constexpr std::int64_t kRehearsedSlots = 2;

// master -> worker.  batches > 0: train on as many mini-batches and say what
// they take; with a load, send it after each, for the master to send it back.
// With hosts, take steps of sync instead, as the only host or as one of two.
// 0: send the load back, if an answer is wanted.  quick: as little as tells
// modes apart.
struct Probe {
  std::int64_t batches = 0;
  std::vector<std::byte> load;
  bool answer = true;
  std::int64_t hosts = 0;  // 0: not of sync; else number of hosts, 1 or 2
  bool quick = false;

  Message to_message() const;
  static Probe from_message(const Message& message);
};

// Time of the slowest of 1, 2, 4, ..., 128 workers, on average.
using Slowest = std::array<double, 8>;

// worker -> master, answers Probe.  Seconds, means; nine mini-batches of ten
// take more than compute_from, and as many less than compute_to.  All 0 with a
// load.
struct Probed {
  double compute = 0, compute_from = 0, compute_to = 0;
  double encode = 0, decode = 0;
  double whole = 0;  // mini-batch with all that was done before the next
  std::int64_t update_bytes = 0;
  // Seconds of a round of averaging besides computing, and bytes that each
  // replica sends in it.
  double round = 0;
  std::int64_t delta_bytes = 0;
  // For one mini-batch, for --frequency ones.
  Slowest slowest{}, slowest_round{};
  std::vector<std::byte> load;
  bool answer = true;  // whether the load is to come back

  Message to_message() const;
  static Probed from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_PROBE_H_
