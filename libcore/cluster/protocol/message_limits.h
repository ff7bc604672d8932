// Limits of each kind of message: who sends it, how long its body is, what
// its blobs are.  The limits follow from the network, so that a message that
// cannot be a good one is refused by its header, before anything is copied.
//
// The table is in message_limits.cpp; dl-protocol(7) tells of it.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_LIMITS_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

// A frame must pass a slow line well within the time of --lost-after, as beats
// queue behind it.
constexpr std::size_t kMaxFrame = std::size_t{1} << 20;
constexpr std::size_t kMaxBody = std::size_t{32} << 20;  // bytes of MessagePack
// Bytes of a Probe's load.
constexpr std::uint64_t kLongestLoad = std::uint64_t{64} << 20;
// No run has more parameters than this.
constexpr std::uint64_t kMostReals = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxMessage = kMostReals * sizeof(float);  // bytes

// Senders of a message: one bit each. A child in the tree, or a worker whose
// results are summed; its parent.
enum Sender : unsigned {
  kFromMaster = 1,
  kFromWorker = 2,
  kFromChild = 4,
  kFromParent = 8,
  kAnybody = 15
};

// Sizes from which the limits follow.
struct Sizes {
  // Numbers of reals in a replica; Welcome tells them.
  std::uint64_t parameters = 0, statistics = 0, updater_state = 0;
  std::uint64_t shards = 0;  // number of shards of the training data
  std::uint64_t load = 0;    // bytes of a load; not 0 with --estimate
  // Bytes of the results of evaluations; 0: none.
  std::uint64_t evaluations = 0;
  bool operator==(const Sizes&) const = default;
};

// Limits of one end of a connection, in bytes: Hello and Welcome tell.
struct Takes {
  std::uint64_t frame = kMaxFrame, message = kMaxMessage;
  bool operator==(const Takes&) const = default;
};

// Messages that a receiver accepts, or a sender may send.
struct Expected {
  unsigned from = kAnybody;
  std::uint64_t most = kMaxMessage;  // greatest number of bytes of a message
  Sizes sizes = {};                  // valid if from is not kAnybody
  bool greets = false;  // whether only Hello is allowed, before Welcome
};

// The lengths of a message's body and blobs.
struct Lengths {
  std::uint64_t body = 0;
  std::vector<std::uint64_t> blobs;
};

// Greatest number of values, of all depths, that a body may have.
std::size_t most_values(MessageType type);

// The values of a body, counted as parse_msgpack() does.
std::size_t count_values(const Json& body);

// Throws Error: kProtocol, such a message does not come from one of these.
void check_sender(MessageType type, unsigned from);
// Throws Error: kProtocol, "Update: body of 9000 bytes > limit 4096", or such
// a message does not come from there.
void check_lengths(MessageType type, const Lengths& lengths,
                   const Expected& expected);

// Checks a message for a peer with these limits before anything is sent.
// values: of the body. Throws Error: kConfig, "cannot send Task, as its
// receiver would refuse it: body of 9000 bytes > limit 4096"; kBug, of a blob.
void check_sent(MessageType type, const Lengths& lengths, std::size_t values,
                const Expected& sent);
// Throws Error: kProtocol, "this worker takes frames of up to 4096 bytes, and
// they have up to 1048576; ..."
void check_takes(const std::string& who, const Takes& takes,
                 const Expected& sent);

// Bytes of the largest message that is expected.
std::uint64_t largest_message(const Expected& expected);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_LIMITS_H_
