// What each kind of message may be: who sends it, how long its body is, what
// its blobs are.  The limits follow from the network, so that a message that
// cannot be a good one is refused by its header, before anything is copied.
//
// The table is in message_limits.cpp; dl-protocol(7) tells of it.

#ifndef DL_LIBCORE_CLUSTER_MESSAGE_LIMITS_H_
#define DL_LIBCORE_CLUSTER_MESSAGE_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/message_type.h"

namespace dl::cluster {

constexpr std::size_t kMaxBody = std::size_t{32} << 20;          // MessagePack
constexpr std::uint64_t kLongestLoad = std::uint64_t{64} << 20;  // of a Probe
// More parameters than this have no run.
constexpr std::uint64_t kMostReals = std::uint64_t{1} << 40;

// Who sends a message: one bit each.  A child in the tree, or a worker whose
// results are summed; its parent.
enum Sender : unsigned {
  kFromMaster = 1,
  kFromWorker = 2,
  kFromChild = 4,
  kFromParent = 8,
  kAnybody = 15
};

// What the limits follow from.
struct Sizes {
  // Reals of a replica; Welcome tells them.
  std::uint64_t parameters = 0, statistics = 0, updater_state = 0;
  std::uint64_t shards = 0;       // of the training data
  std::uint64_t load = 0;         // bytes; not 0 with --estimate
  std::uint64_t evaluations = 0;  // bytes of their results; 0: there are none
  bool operator==(const Sizes&) const = default;
};

// What a receiver takes.
struct Expected {
  unsigned from = kAnybody;
  std::uint64_t most = kMostReals * sizeof(float);  // bytes of a message
  Sizes sizes = {};                                 // if from is not kAnybody
  bool greets = false;  // who was not let in may only say Hello
};

// The lengths of a message's body and blobs.
struct Lengths {
  std::uint64_t body = 0;
  std::vector<std::uint64_t> blobs;
};

// The values, of all depths, that a body may have.
std::size_t most_values(MessageType type);

// Throws Error: kProtocol, it does not come from one of these.
void check_sender(MessageType type, unsigned from);
// Throws Error: kProtocol, "Update: body of 9000 bytes > limit 4096", or such
// a message does not come from there.
void check_lengths(MessageType type, const Lengths& lengths,
                   const Expected& expected);

// Bytes of the largest message.
std::uint64_t largest_message(const Expected& expected);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MESSAGE_LIMITS_H_
