// The messages of sharing; see message.h.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_SHARING_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/cluster/protocol/mass_ledger.h"
#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

// worker -> master, sharing: the coded update of the mini-batches
// [batch, batch + count) of an epoch.
struct Update {
  std::uint64_t lease = 0, fence = 0;
  std::int64_t batch = 0, count = 1;
  // Version of the last update in the parameters from which it was computed;
  // those of the first of its mini-batches.
  std::uint64_t version = 0;
  std::int64_t examples = 0;
  double loss_sum = 0;
  double threshold = 0;
  std::int64_t quanta = 0;
  std::vector<std::byte> payload;  // exchange/codec/threshold.h; may be empty

  Message to_message() const;
  static Update from_message(const Message& message);
};

// master -> worker, sharing: apply update number `sequence`, which follows the
// one before without a gap.  Every Update is answered once, by an Apply of its
// origin and batch or by a Stale with its batch.
struct Apply {
  std::uint64_t sequence = 0;
  std::uint64_t origin = 0;  // worker that sent the update; 0: the update log
  std::int64_t epoch = 0;    // epoch of the update
  std::int64_t batch = 0;
  float scale = 1;             // parameters -= scale * update
  std::int64_t iteration = 0;  // the run's mini-batches with this; 0: from log
  std::vector<std::byte> payload;  // may be empty for the origin

  Message to_message() const;
  static Apply from_message(const Message& message);
};

// master -> worker, sharing: asks for the digest of the parameters after all
// updates up to `sequence`.  It follows the Apply of that one.
struct Check {
  std::int64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t digest = 0;      // XXH3 of the master's parameters
  std::uint64_t updater_of = 0;  // worker whose updater state is wanted

  Message to_message() const;
  static Check from_message(const Message& message);
};
// worker -> master: answers Check.
struct Digest {
  std::uint64_t sequence = 0;
  std::uint64_t digest = 0;
  double residual_norm = 0;
  MassLedger mass;                 // ledger of the process; in averaging empty
  Json exchange = Json::object();  // as in Beat
  std::vector<float> statistics, updater_state;

  Message to_message() const;
  static Digest from_message(const Message& message);
};
// master -> worker, sharing: the average of all replicas' running statistics,
// to go on from.
struct Statistics {
  std::uint64_t number = 0;  // counts from 1 in this start of the master
  std::vector<float> values;

  Message to_message() const;
  static Statistics from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_SHARING_H_
