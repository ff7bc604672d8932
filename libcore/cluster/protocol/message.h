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
#include "libcore/cluster/protocol/message_history.h"
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
  std::string version;  // version of dl-tools
  std::string name;     // unique in a run; "": the master chooses it
  std::string host;
  std::uint64_t process = 0;  // random; tells apart equal hosts and pids
  std::int64_t pid = 0;
  std::string device;  // "cpu"
  int threads = 1;
  std::string previous_run;  // run id that it worked for before, or ""
  std::string instructions;  // device/instructions.h; "" if not known
  std::optional<int> rank = std::nullopt;  // rank given by its launcher
  Takes takes;
  bool operator==(const Hello&) const = default;

  Message to_message() const;
  static Hello from_message(const Message& message);
};

// A shard as workers know it.
struct ShardInfo {
  std::string path;          // absolute path, as the master was given it
  std::uint64_t digest = 0;  // digest of its end mark: no other file is used
  std::vector<std::int64_t> records;  // number of examples in each
  data::Alignment alignment = {};     // order of its columns, without the note
  std::map<std::string, data::Field> encoded = {};  // Shard::encoded()
};

// master -> worker: all that a worker needs to know of the run.
struct Welcome {
  std::string run;           // run id, 32 hex digits, new at each master start
  std::uint64_t worker = 0;  // number of the worker in the run
  std::string name;          // name of the worker in the run
  Json network;              // dl-network(5), resolved
  Json normalizer;
  Json target_normalizer;
  Json settings;  // cluster/settings/settings.h
  Json metadata;  // metadata of the data set, data::Metadata::to_strings()
  std::vector<ShardInfo> training, evaluation;
  std::int64_t heartbeat_ms = 2000;
  std::int64_t silence_ms = 60000;  // after which a master is lost
  Takes takes;
  Sizes sizes;  // sizes of a replica, from which limits of messages follow
  std::string tree_key;      // secret key of all workers, Z85; "" without CURVE
  std::int64_t summary = 0;  // every n-th mini-batch is for Spreads

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

// worker -> master: the worker can work.
struct Ready {
  std::vector<std::uint32_t> unreadable;  // training shards that it cannot read
  // Sharing: the worker's parameters are those after update `version` of the
  // master's start with this run id; "": it has no parameters.
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
  double threshold = 0;        // sharing: a new worker's; 0: the rule's first
  std::uint64_t averages = 0;  // sharing: number of the last Statistics
  std::uint64_t setbacks = 0;  // sharing: rollbacks of the run so far
  std::vector<float> parameters, statistics, updater_state, velocity;
  std::vector<float> fasgd;  // state of the staleness rule fasgd, fasgd.h

  Message to_message() const;
  // The message with these vectors in place of the members, in their order.
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
  Slot slot;                             // slot of averaging and sync
  std::vector<std::string> evaluations;  // kEvaluate: kinds, as for dl-eval
  // A worker was lost over this work: the worker names each next mini-batch in
  // a Beat and waits for Alive, so that the mini-batch at fault is known.
  bool careful = false;
  std::vector<std::uint32_t> without;  // bad shards that the epoch leaves out
  std::vector<std::int64_t> passed_over;  // batches not trained, ascending
  // The newest message of the feed at the grant; the work waits for it.
  std::uint64_t feed = 0;

  Message to_message() const;
  static Task from_message(const Message& message);
};

// worker -> master: a task of sharing is done and its last Update sent, or an
// evaluation is done.
struct TaskDone {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t examples = 0;
  std::vector<Json> evaluations;  // eval/evaluation.h, one result for each kind
  std::vector<float> statistics;  // sharing: running statistics, for averaging

  Message to_message() const;
  static TaskDone from_message(const Message& message);
};

// master -> worker: the worker is to drop the work of this lease.
// batch: the first mini-batch of the Update that is refused; -1 if the lease
// was revoked, or a Result or TaskDone is refused.
struct Stale {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t batch = -1;

  Message to_message() const;
  static Stale from_message(const Message& message);
};

// worker -> master: this mini-batch gave a loss or an update that is not
// finite, or cannot be had: one of its records is of no use to the worker, nor
// is the master's copy.  Nothing of it was sent.  The lease returns to the
// queue from this mini-batch on (in averaging the whole lease).
struct Fault {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t batch = 0;
  std::string reason;
  int code = 0;  // dl::Code of the fault of a record; 0: no record is at fault
  std::uint32_t shard = 0, record = 0;  // the record at fault, if code is not 0

  Message to_message() const;
  static Fault from_message(const Message& message);
};

// worker -> master, every heartbeat, also while it computes.
struct Beat {
  std::uint64_t progress = 0;  // mini-batches of any kind done since the start
  double examples_per_second = 0;
  std::string doing;               // "batch 17 of lease 4", shown to people
  Json exchange = Json::object();  // exchange_stats.h, since the last one sent
  std::uint64_t feed = 0;  // last message of the feed in its turn; 0: none
  std::uint64_t flow =
      0;  // grows while bytes move between it and other workers
  // Fields for a careful Task: the mini-batch that comes next; -1: none does.
  std::uint64_t lease = 0;
  std::int64_t batch = -1;

  Message to_message() const;
  static Beat from_message(const Message& message);
};

// master -> worker, answers Beat: lease and batch are those of the Beat.
struct Alive {
  std::uint64_t lease = 0;
  std::int64_t batch = -1;

  Message to_message() const;
  static Alive from_message(const Message& message);
};

// master -> worker: say Hello again.  Answers all messages but Hello and Leave
// of a worker that the master does not count on.
struct Rejoin {
  std::string why;  // reason; "" if the worker no longer counts

  Message to_message() const;
  static Rejoin from_message(const Message& message);
};

// worker -> master: wants a record of a shard that it cannot open.
struct Fetch {
  bool evaluation = false;  // whether the shard is one of the evaluation data
  std::uint32_t shard = 0, record = 0;

  Message to_message() const;
  static Fetch from_message(const Message& message);
};
struct Record {
  bool evaluation = false;
  std::uint32_t shard = 0, record = 0;
  std::vector<std::byte> packed;  // shard.h; empty: the master cannot read it

  Message to_message() const;
  static Record from_message(const Message& message);
};

struct Stop {
  int code = 0;  // the worker's exit status
  std::string reason;

  Message to_message() const;
  static Stop from_message(const Message& message);
};

// worker -> master: the worker leaves; its leases return to the queue at once.
struct Leave {
  std::string reason;
  bool returns = false;  // whether it will say Hello again

  Message to_message() const;
  static Leave from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_H_
