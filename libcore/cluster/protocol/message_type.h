// The kinds of messages, and a message as the wire carries it.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TYPE_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"

namespace dl::cluster {

constexpr int kProtocolVersion = 2;

// Numbers on the wire: from 1 in the order of messages.inc.
enum class MessageType : std::uint16_t {
  kNone = 0,
#define DL_MESSAGE(name, ...) k##name,
#include "libcore/cluster/protocol/messages.inc"
#undef DL_MESSAGE
};
// "Hello"; "" for a number that is no type.
std::string_view name_of(MessageType type);

// The part of a worker that takes a message of its master: the session with
// it, the records that were fetched, or its peers and then the compute thread.
enum class Taker : std::uint8_t { kNone, kSession, kRecords, kPeers };
// kNone: no part of a worker takes such a message from its master.
Taker taker_of(MessageType type);

// A message as the wire carries it.
struct Message {
  MessageType type = MessageType::kBeat;
  Json body;
  std::vector<std::vector<std::byte>> blobs;
};
// A message that goes to several receivers, or waits for them, without another
// copy of its vectors.
using SharedMessage = std::shared_ptr<const Message>;
// Approximate size of a message's contents, to bound a queue.
std::size_t size_of(const Message& message);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TYPE_H_
