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

enum class MessageType : std::uint16_t {
  kHello = 1,
  kWelcome,
  kRefuse,
  kReady,
  kState,
  kTask,
  kResult,
  kUpdate,
  kApply,
  kTaskDone,
  kStale,
  kBeat,
  kFetch,
  kRecord,
  kCheck,
  kDigest,
  kStop,
  kLeave,
  kFault,
  kStatistics,
  kRound,
  kProbe,
  kProbed,
  kPlace,
  kListen,
  kListening,
  kFed,
  kAttach,
  kFeeding,
  kReduce,
  kReduced,
  kDirect,
  kRejoin,
  kAlive,
  kParties,
  kPart,
  kMean,
  kCut,
  kPull,
  kSlice
};
// "Hello"; "" for a number that is no type.
std::string_view name_of(MessageType type);

// A message as the wire carries it.
struct Message {
  MessageType type = MessageType::kBeat;
  Json body;
  std::vector<std::vector<std::byte>> blobs;
};
// One that goes to several, or waits for them, without another copy of its
// vectors.
using SharedMessage = std::shared_ptr<const Message>;
// Size of its contents, near enough to bound a queue.
std::size_t size_of(const Message& message);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_TYPE_H_
