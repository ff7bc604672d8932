// The messages of averaging and of sync, and what their tasks say more; see
// message.h.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_AVERAGING_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_AVERAGING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

// The slot of a round that a Task is for.  A slot has a history at the worker
// that does it: what coding has left out, updater state that is kept, and what
// it learnt in its last round.
struct Slot {
  std::int64_t index = 0;
  std::uint64_t round = 0;    // version that the round makes
  std::uint64_t follows = 0;  // last round of its history; 0: starts afresh
  std::string reducer;  // receiver of its Result, "tcp://..."; "": the master
  // Sync: if not 0, pieces of the Result go to the Parties of this id, and the
  // round has `slots` slots.
  std::uint64_t parties = 0;
  std::int64_t slots = 0;
  // The Result stays with its worker until the master asks for it, by Pull.
  bool pulled = false;
  bool operator==(const Slot&) const = default;
};

// worker -> master, averaging: what a replica learnt in its task; sync: the
// gradient of its mini-batch.  Where another worker reduces it, that one gets
// it, and the master the same without the vectors; so it does where it pulls
// them.
struct Result {
  std::uint64_t lease = 0, fence = 0;
  std::uint64_t round = 0;  // round of the task
  std::int64_t slot = 0;
  bool elsewhere = false;  // the vectors are left out; workers have them
  std::int64_t examples = 0;
  double loss_sum = 0;  // mean loss times examples, summed over batches
  std::vector<std::byte> delta;  // exchange/codec/delta.h; may be empty
  std::vector<float> statistics, updater_state;
  std::int64_t count = 0;  // mini-batches done after a Cut; 0: all of the task

  Message to_message() const&;
  Message to_message() &&;  // the difference moves into it
  static Result from_message(const Message& message);
};

// master -> worker, averaging: the task of a replica that is alone ends after
// the mini-batch at hand.
struct Cut {
  std::uint64_t lease = 0, fence = 0;

  Message to_message() const;
  static Cut from_message(const Message& message);
};

// master -> worker, averaging and sync: the average of a round, for all that
// have the version before it.  Each takes the outer optimizer's step, or (sync)
// that of the network's updater: there the average is a gradient.
struct Round {
  std::uint64_t version = 0;  // version that the round makes
  double momentum = 0;        // momentum of the outer optimizer
  // Sync: position of the step, as in nn::Position.
  std::int64_t iteration = 0, epoch = 0;
  double factor = 1;
  // Sync: the parties of the round have delta and statistics, made by
  // themselves; they are empty here.
  bool held = false;
  // exchange/codec/delta.h; empty: in sync there is no step, in averaging the
  // only slot gave its parameters, and its worker goes on from them.
  std::vector<std::byte> delta;
  // Updater state only if averaged.
  std::vector<float> statistics, updater_state;
  // XXH3 of the parameters after the round; 0: unknown.
  std::uint64_t digest = 0;
  // Within a worker, held: gradient and statistics, as floats, in the pieces of
  // tree/pieces.h.
  std::vector<std::vector<std::byte>> pieces;

  Message to_message() const&;
  Message to_message() &&;  // the vectors move into it
  static Round from_message(Message message);
};

constexpr std::int64_t kMostLevels = 10;  // levels: sums of 8 slots, of 64, ...

// master -> worker, averaging: sum what the slots [first, first + count) of a
// round give: their Results or, from level 2 on, the Reduced of the level
// below, each of 8 times as many slots as the level before.
struct Reduce {
  std::uint64_t round = 0;
  std::int64_t level = 1;
  std::int64_t first = 0, count = 0;
  std::int64_t parameters = 0;  // number of parameters of the network
  std::string up;  // receiver of the sum, "tcp://..."; "": the master

  Message to_message() const;
  static Reduce from_message(const Message& message);
};

// Counts in the Result of a slot.
struct SlotCount {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t examples = 0;
  double loss_sum = 0;

  Json to_json() const;
  // Reads the fields of these names, among others. Throws Error: kProtocol.
  static SlotCount from_json(const JsonView& json);
};
// Reads a list of SlotCounts.  Throws Error: kProtocol.
std::vector<SlotCount> slot_counts_of(const JsonView& list);

// worker -> receiver named by Reduce: sums of examples * value over the slots.
struct Reduced {
  std::uint64_t round = 0;
  std::int64_t level = 1;
  std::int64_t first = 0;         // first slot of the group
  std::vector<SlotCount> counts;  // counts of each slot
  std::string why;  // reason why there is no sum and no vectors, or ""
  std::vector<std::byte> delta;  // exchange/codec/delta.h, lossless
  std::vector<float> statistics, updater_state;

  Message to_message() const;
  static Reduced from_message(const Message& message);
};

// master -> all workers, averaging: nothing is reduced in this round any more;
// its Results go to the master, those that were sent elsewhere too, or wait
// until they are pulled.
struct Direct {
  std::uint64_t round = 0;
  bool pulled = false;

  Message to_message() const;
  static Direct from_message(const Message& message);
};

// master -> worker: asks for elements of a Result that the worker holds.  A
// Result is one vector here: difference or gradient, statistics, updater state.
struct Pull {
  std::uint64_t lease = 0, fence = 0;
  // At most kLargestPiece elements; 0: the Result is not wanted any more.
  std::int64_t first = 0, count = 0;

  Message to_message() const;
  static Pull from_message(const Message& message);
};

// worker -> master: the elements that a Pull asked for.
struct Slice {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t first = 0;
  std::vector<float> values;

  Message to_message() const;
  static Slice from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_AVERAGING_H_
