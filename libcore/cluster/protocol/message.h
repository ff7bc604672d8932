// The messages between master and workers: one struct each, with both sides.
//
// dl-protocol(7) says who may send which in what state, and each time limit.
// On the wire a message is [header][MessagePack body][raw blob...]; the header
// (wire.h) carries magic, protocol version, type, run id, fencing epoch,
// sequence, lengths and an XXH3 of body and blobs.  Here are the bodies.
//
// from_message() of a struct checks types, ranges and sizes and throws
// Error{kProtocol}, "Hello.pid: want integer 0..., got -1".  Vectors of float
// are blobs of little-endian binary32; their length and values are not checked.
//
// A conversation:
//
//   worker                         master
//   Hello                     ->
//                             <-   Welcome (all a worker needs) | Refuse
//   Ready                     ->
//                             <-   State, then Task ...
//   averaging:  Result        ->             (what a slot has learnt)
//                             <-   Round     (what all have: instead of State)
//   sharing:    Update        ->             (each mini-batch)
//                             <-   Apply     (each accepted update, in the
//                                             order of its sequence number)
//   TaskDone                  ->             (sharing, evaluation)
//   Beat                      ->             (every heartbeat)
//                             <-   Alive
//   Fetch                     ->
//                             <-   Record    (data the worker cannot open)
//   Fault                     ->             (a mini-batch that went wrong)
//                             <-   Check     (sharing: digest to compare)
//   Digest                    ->
//                             <-   Statistics (sharing: their average)
//                             <-   Listen, Place (in a tree)
//   Listening, Fed            ->
//                             <-   Stop
//   Leave                     ->
//
// Round, Apply, Check and Statistics may come through another worker, after
//
//   child                          parent
//   Attach                    ->
//                             <-   Feeding, then each in its turn

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/message_averaging.h"
#include "libcore/cluster/protocol/message_limits.h"
#include "libcore/cluster/protocol/message_sharing.h"
#include "libcore/cluster/protocol/message_sync.h"
#include "libcore/cluster/protocol/message_tree.h"
#include "libcore/cluster/protocol/message_type.h"
#include "libcore/data/alignment.h"

namespace dl::cluster {

constexpr std::size_t kLongestWorkerName = 256;  // bytes

// worker -> master, first on a connection.
struct Hello {
  int protocol = kProtocolVersion;
  std::string version;  // of dl-tools
  std::string name;     // unique in a run; "": the master gives it one
  std::string host;
  std::uint64_t process = 0;  // random: tells processes of one host and pid
  std::int64_t pid = 0;
  std::string device;  // "cpu"
  int threads = 1;
  std::string previous_run;  // run id it worked in before, or ""
  std::string instructions;  // device/instructions.h; "": not known
  std::optional<int> rank = std::nullopt;  // what its launcher says that it is
  Takes takes;
  bool operator==(const Hello&) const = default;

  Message to_message() const;
  static Hello from_message(const Message& message);
};

// A shard as workers know it.  `digest` is that of its end mark: a file that
// differs is not used.
struct ShardInfo {
  std::string path;  // as the master was given it, absolute
  std::uint64_t digest = 0;
  std::vector<std::int64_t> records;  // examples of each
  data::Alignment alignment = {};     // of its examples, without the note
};

// master -> worker: all that a worker needs to know of the run.
struct Welcome {
  std::string run;           // run id, 32 hex digits, new at each master start
  std::uint64_t worker = 0;  // number of this worker in the run
  std::string name;          // its name there
  Json network;              // dl-network(5), resolved
  Json normalizer;
  Json target_normalizer;
  Json settings;  // cluster/settings/settings.h
  Json metadata;  // of the data set: dl::data::Metadata::to_strings
  std::vector<ShardInfo> training, evaluation;
  std::int64_t heartbeat_ms = 2000;
  // A master that says nothing for so long is lost.
  std::int64_t silence_ms = 60000;
  Takes takes;
  Sizes sizes;  // of a replica: what messages may be follows from them
  // Secret key that all workers of the run share, Z85; "" without CURVE.
  std::string tree_key;

  Message to_message() const;
  static Welcome from_message(const Message& message);
};

// master -> worker: not admitted.  The worker exits with `code`.
struct Refuse {
  int code = 76;  // dl::Code
  std::string reason;

  Message to_message() const;
  static Refuse from_message(const Message& message);
};

// worker -> master: it can work.
struct Ready {
  std::vector<std::uint32_t> unreadable;  // training shards it must be sent
  // Sharing: its parameters are those after update `version` of this start of
  // a master; "": it has none.
  std::string run;
  std::uint64_t version = 0;

  Message to_message() const;
  static Ready from_message(const Message& message);
};

// master -> worker: what replicas start from.  Blobs: parameters, statistics,
// updater state (empty: start afresh), velocity of the outer optimizer (empty:
// it has none), what FASGD keeps; each float32.
// version: averaging, the round; sharing, the sequence number that it includes.
// Sharing: it comes to a new worker, and to one that missed messages or
// differed.  It ends the worker's tasks and answers all its updates; what
// follows about those leases is to be ignored.  Empty vectors leave the
// worker's own as they are, which must be those of the version.
struct State {
  std::uint64_t version = 0;
  double threshold = 0;        // sharing: a new worker's first; 0: the rule's
  std::uint64_t averages = 0;  // sharing: the last Statistics of this start
  std::uint64_t setbacks = 0;  // sharing: of the run, so far
  std::vector<float> parameters, statistics, updater_state, velocity;
  std::vector<float> fasgd;  // fasgd.h, if that is the staleness rule

  Message to_message() const;
  // The same with vectors that lie elsewhere, in this order.
  Message with(const std::array<std::span<const float>, 5>& vectors) const;
  static State from_message(Message message);
};

enum class TaskKind : std::uint8_t { kTrain, kEvaluate };

// master -> worker: a lease on mini-batches [first, first + count) of an epoch.
struct Task {
  TaskKind kind = TaskKind::kTrain;
  std::uint64_t lease = 0;  // unique in the run
  std::uint64_t fence = 0;  // grows each time the same work is leased again
  // Averaging: the State to start from.  Sharing: the update that must be
  // applied before the first mini-batch, or 0.
  std::uint64_t version = 0;
  std::int64_t epoch = 0;
  std::int64_t first = 0, count = 0;
  std::int64_t iteration = 0;            // updater steps before the first batch
  std::int64_t beside = 1;               // nn::Position::concurrent_replicas
  double factor = 1;                     // nn::Position::factor
  Slot slot;                             // averaging
  std::vector<std::string> evaluations;  // kEvaluate: kinds, as for dl-eval
  // A worker was lost over this work: say by a Beat which mini-batch comes next
  // and wait for the answer, so that it is known if that is what does it.
  bool careful = false;
  std::vector<std::uint32_t> without;  // bad shards that the epoch leaves out
  std::vector<std::int64_t> passed_over;  // of the mini-batches, ascending
  // The newest message of the feed as it was given: that comes first.
  std::uint64_t feed = 0;

  Message to_message() const;
  static Task from_message(const Message& message);
};

// worker -> master: the last of a sharing task was sent, or an evaluation is
// done.
struct TaskDone {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t examples = 0;
  std::vector<Json> evaluations;  // eval/evaluation.h, one for each kind
  std::vector<float> statistics;  // sharing: running statistics, for averaging

  Message to_message() const;
  static TaskDone from_message(const Message& message);
};

// master -> worker: this lease is no longer yours; drop its work.
// batch: the Update that this refuses; -1, the lease was revoked, or a Result
// or TaskDone is refused.
struct Stale {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t batch = -1;

  Message to_message() const;
  static Stale from_message(const Message& message);
};

// worker -> master: this mini-batch gave a loss or an update that is not
// finite, or cannot be had: a record of it is of no use here, nor is the
// master's copy.  Nothing of it was sent.  The lease returns to the queue from
// here on (averaging: whole).
struct Fault {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t batch = 0;
  std::string reason;
  int code = 0;  // dl::Code of what was wrong with a record; 0: none was
  std::uint32_t shard = 0, record = 0;  // ... this one of the work's data

  Message to_message() const;
  static Fault from_message(const Message& message);
};

// worker -> master, every heartbeat, also while it computes.
struct Beat {
  std::uint64_t progress = 0;  // mini-batches done since the start, any kind
  double examples_per_second = 0;
  std::string doing;               // "batch 17 of lease 4", for messages
  Json exchange = Json::object();  // exchange_stats.h, since the last one told
  std::uint64_t feed = 0;  // number of the last message in its turn; 0: none
  std::uint64_t flow =
      0;  // grows while bytes move between it and other workers
  // Fields for a careful Task: the mini-batch that comes next; batch -1: none.
  std::uint64_t lease = 0;
  std::int64_t batch = -1;

  Message to_message() const;
  static Beat from_message(const Message& message);
};

// master -> worker, answers Beat: lease and batch are its own.
struct Alive {
  std::uint64_t lease = 0;
  std::int64_t batch = -1;

  Message to_message() const;
  static Alive from_message(const Message& message);
};

// master -> worker, answers anything but Hello and Leave of whom it does not
// know: say Hello again.
struct Rejoin {
  std::string why;  // "": the master does not count on it any more

  Message to_message() const;
  static Rejoin from_message(const Message& message);
};

// worker -> master: wants a record of a shard that it cannot open.
struct Fetch {
  bool evaluation = false;  // of the evaluation shards
  std::uint32_t shard = 0, record = 0;

  Message to_message() const;
  static Fetch from_message(const Message& message);
};
struct Record {
  bool evaluation = false;
  std::uint32_t shard = 0, record = 0;
  std::vector<std::byte> packed;  // shard.h; empty: unreadable there too

  Message to_message() const;
  static Record from_message(const Message& message);
};

struct Stop {
  int code = 0;  // the worker's exit status
  std::string reason;

  Message to_message() const;
  static Stop from_message(const Message& message);
};

// worker -> master: it goes; its leases return to the queue at once.
struct Leave {
  std::string reason;
  bool returns = false;  // it will say Hello again

  Message to_message() const;
  static Leave from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_H_
