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
  std::int64_t work = 0;       // of these, not passed over when it was granted
  std::int64_t committed = 0;  // of this work
  bool careful = false;        // a worker was lost over one of its mini-batches
  std::uint64_t twin = 0;  // another lease of the same work; 0: there is none

  bool has(std::int64_t batch) const {
    return batch >= first && batch < first + count;
  }
};

class LeaseTable {
 public:
  // next_id: counts the leases of the run, so that their numbers never repeat;
  // outlives the table.
  LeaseTable(std::int64_t batches, std::uint64_t& next_id);

  // Takes over what a checkpoint says, but for what is passed over already.
  // Before any grant.
  void restore(const Ranges& committed);

  // Leases the first free range below `end` to a worker: at most `most`
  // mini-batches.  Nothing if all below it are leased or committed.
  // may: whether it may do one that another was lost with.
  using May = std::function<bool(std::int64_t batch)>;
  std::optional<Lease> grant(std::uint64_t worker, std::int64_t most,
                             std::int64_t end = INT64_MAX,
                             const May& may = nullptr);

  // Leases [first, first + count), if all of it is free or passed over, and not
  // all of it passed over.
  std::optional<Lease> grant_at(std::uint64_t worker, std::int64_t first,
                                std::int64_t count);

  // Leases what is left of a lease once more, to another worker: either may
  // commit it.  Nothing: it has a copy, or nothing is left.
  std::optional<Lease> copy(std::uint64_t id, std::uint64_t worker);

  // Whether [first, first + count) may be committed: there is such a lease, its
  // fence is this one, and the mini-batches are in it and not committed yet.
  bool holds(std::uint64_t id, std::uint64_t fence, std::int64_t first,
             std::int64_t count) const;
  // Commits them if it holds them; else returns false and changes nothing.
  bool commit(std::uint64_t id, std::uint64_t fence, std::int64_t first,
              std::int64_t count);

  // The lease is over; the rest of it becomes free, but for what a copy of it
  // has.  Unknown ids are ignored.
  // failed: its worker died or stood still over it; the next leases of that
  // work are careful.
  void finish(std::uint64_t id, bool failed = false);

  // Mini-batch i is to be passed over: it is granted to nobody any more.  What
  // is committed stays, and what is leased may be committed yet.
  void condemn(std::int64_t i);

  const Lease* find(std::uint64_t id, std::uint64_t fence) const;
  // A worker's, in the order in which they were granted.
  std::vector<Lease> of(std::uint64_t worker) const;
  std::size_t held_by(std::uint64_t worker) const;  // how many these are
  // Mini-batches of theirs that they have not committed; one that a copy
  // committed counts until the lease ends.
  std::int64_t left_of(std::uint64_t worker) const;
  const std::map<std::uint64_t, Lease>& leases() const { return leases_; }

  std::int64_t batches() const;
  std::int64_t committed() const { return committed_; }
  std::int64_t prefix() const;  // all below it are settled, it is not
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
  // Whether one of [first, first + count) is.
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
  std::vector<std::uint64_t> fences_;  // of each one's last lease
  std::vector<bool> careful_, condemned_;
  std::map<std::uint64_t, Lease> leases_;
  std::unordered_map<std::uint64_t, Held> held_;  // by worker
  mutable std::int64_t lowest_free_ = 0;          // nothing below is free
  mutable std::int64_t prefix_ = 0;               // a lower bound of prefix()
  std::int64_t committed_ = 0;
  std::int64_t leased_ = 0;
  std::int64_t passed_over_ = 0;
  std::uint64_t& next_id_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_LEASE_H_
