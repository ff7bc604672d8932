// The messages of sync, by which workers average gradients among themselves;
// see message.h.
//
// What a slot gives is one vector, its gradient and then its statistics.  That
// is cut into pieces (tree/pieces.h), each of which one worker averages and
// sends to all.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_SYNC_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_SYNC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/names.h"
#include "libcore/cluster/protocol/message_averaging.h"
#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

constexpr std::size_t kMostParties = 64;
// Elements of a piece at most: 256 KiB, a few milliseconds of a slow line.
constexpr std::size_t kLargestPiece = 65536;

// Averages that a worker reports to the master.
// kOwn: those that it makes.
enum class Reports : std::uint8_t { kNone, kOwn, kAll };
inline constexpr dl::Names<Reports, 3> kReportsNames{
    {{{Reports::kNone, "none"},
      {Reports::kOwn, "own"},
      {Reports::kAll, "all"}}}};

// master -> worker: the workers that average among themselves from now on.
struct Parties {
  std::uint64_t id = 0;  // grows with each message
  // "tcp://...", the worker's own among them.
  std::vector<std::string> endpoints;
  Reports reports = Reports::kNone;

  Message to_message() const;
  static Parties from_message(const Message& message);
};

// worker -> worker: elements [first, first + values) of a slot's vector.
struct Part {
  std::uint64_t round = 0, parties = 0;
  std::int64_t slots = 1, slot = 0;  // slots: number in the round
  std::int64_t first = 0;
  SlotCount count;
  std::vector<float> values;

  Message to_message() const;
  static Part from_message(const Message& message);
  static Part without_values(const Message& message);
};

// worker -> worker: elements [first, first + values) of the average of all
// slots; workers that report it send it to the master, too.
struct Mean {
  std::uint64_t round = 0, parties = 0;
  std::int64_t first = 0;
  std::vector<SlotCount> counts;  // counts of each slot
  std::string why;  // to the master: reason why it will not come, or ""
  std::vector<float> values;

  Message to_message() const;
  static Mean from_message(const Message& message);
  static Mean without_values(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_SYNC_H_
