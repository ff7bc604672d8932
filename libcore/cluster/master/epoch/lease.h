// Leases of mini-batches to workers, over one pass of an epoch.
//
// The mini-batches [0, batches) are free, leased, committed or passed over.  A
// lease is a range granted to a worker, with a number that is unique in the run
// and a fencing number that grows each time one of its mini-batches is granted
// again.  What a lease has not committed when it ends becomes free and is
// granted before anything later.  A mini-batch is committed exactly once:
// commit() answers for a late or repeated report that it is stale.  Work may be
// leased to two workers at a time, see copy().
//
// Pure bookkeeping: no clock, no messages.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_LEASE_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_LEASE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libcore/cluster/run_dir/ranges.h"

namespace dl::cluster {

struct Lease {
  std::uint64_t id = 0;
  std::uint64_t fence = 0;
  std::uint64_t worker = 0;
  std::int64_t first = 0, count = 0;
  std::int64_t work = 0;       // mini-batches not passed over at the grant
  std::int64_t committed = 0;  // mini-batches committed
  bool careful = false;        // a worker was lost over one of its mini-batches
  std::uint64_t twin = 0;      // other lease of the same work, or 0

  bool has(std::int64_t batch) const {
    return batch >= first && batch < first + count;
  }
};

class LeaseTable {
 public:
  // next_id: counts the leases of the run, so that their numbers never repeat;
  // outlives the table.
  LeaseTable(std::int64_t batches, std::uint64_t& next_id);

  // Takes over the committed ranges of a checkpoint, except mini-batches that
  // are passed over already.  Before any grant.
  void restore(const Ranges& committed);

  // Leases the first free range below `end` to a worker: at most `most` mini-
  // batches.  Returns nothing if all below `end` are leased or committed.
  // may: whether the worker may do a mini-batch that another was lost with.
  using May = std::function<bool(std::int64_t batch)>;
  std::optional<Lease> grant(std::uint64_t worker, std::int64_t most,
                             std::int64_t end = INT64_MAX,
                             const May& may = nullptr);

  // Leases [first, first + count), if all of it is free or passed over, and not
  // all of it passed over.
  std::optional<Lease> grant_at(std::uint64_t worker, std::int64_t first,
                                std::int64_t count);

  // Leases the rest of a lease once more, to another worker; either may commit
  // it.  Returns nothing if it has a copy, or no rest.
  std::optional<Lease> copy(std::uint64_t id, std::uint64_t worker);

  // Whether [first, first + count) may be committed: there is such a lease, its
  // fence is this one, and the mini-batches are in it and not committed yet.
  bool holds(std::uint64_t id, std::uint64_t fence, std::int64_t first,
             std::int64_t count) const;
  // Commits these mini-batches if holds() is true; else returns false and
  // changes nothing.
  bool commit(std::uint64_t id, std::uint64_t fence, std::int64_t first,
              std::int64_t count);

  // Ends the lease; the rest of it becomes free, except for mini-batches that a
  // copy of it has.  Unknown ids are ignored.
  // failed: its worker died or stood still over it; the next leases of this
  // work are careful.
  void finish(std::uint64_t id, bool failed = false);

  // Passes over mini-batch i: it is not granted any more.  It stays committed
  // if it is, and may still be committed if it is leased.
  void condemn(std::int64_t i);

  const Lease* find(std::uint64_t id, std::uint64_t fence) const;
  // The leases of a worker, in the order in which they were granted.
  std::vector<Lease> of(std::uint64_t worker) const;
  // Number of leases of a worker.
  std::size_t held_by(std::uint64_t worker) const;
  // Number of mini-batches in these leases that they have not committed; one
  // that a copy committed counts until the lease ends.
  std::int64_t left_of(std::uint64_t worker) const;
  const std::map<std::uint64_t, Lease>& leases() const { return leases_; }

  std::int64_t batches() const;
  std::int64_t committed() const { return committed_; }
  std::int64_t prefix() const;  // first mini-batch that is not settled
  // Committed or passed over.
  bool is_settled(std::int64_t batch) const {
    const State state = states_[static_cast<std::size_t>(batch)];
    return state == State::kCommitted || state == State::kPassedOver;
  }
  bool is_passed_over(std::int64_t batch) const {
    return states_[static_cast<std::size_t>(batch)] == State::kPassedOver;
  }
  bool complete() const { return committed_ + passed_over_ == batches(); }
  std::int64_t free() const;
  std::int64_t leased() const { return leased_; }
  // Whether one of [first, first + count) is passed over.
  bool any_free(std::int64_t first, std::int64_t count) const;
  bool any_free() const;
  Ranges committed_ranges() const { return ranges(State::kCommitted); }
  Ranges passed_over_ranges() const { return ranges(State::kPassedOver); }

 private:
  enum class State : std::uint8_t { kFree, kLeased, kCommitted, kPassedOver };
  struct Held {
    std::vector<std::uint64_t> leases;
    std::int64_t left = 0;
  };
  Ranges ranges(State state) const;
  Lease lease_out(std::uint64_t worker, std::int64_t first, std::int64_t count);

  std::vector<State> states_;
  std::vector<std::uint64_t> fences_;  // fence of each mini-batch's last lease
  std::vector<bool> careful_, condemned_;
  std::map<std::uint64_t, Lease> leases_;
  std::unordered_map<std::uint64_t, Held> held_;  // leases held, by worker
  mutable std::int64_t lowest_free_ = 0;          // no mini-batch below is free
  mutable std::int64_t prefix_ = 0;               // lower bound of prefix()
  std::int64_t committed_ = 0;
  std::int64_t leased_ = 0;
  std::int64_t passed_over_ = 0;
  std::uint64_t& next_id_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_LEASE_H_
