// Bounded staleness (stale synchronous parallel; Ho et al., NIPS 2013).
//
// The mini-batches of an epoch fall into rounds of `width`.  One of round r may
// be begun when all of the rounds before r - staleness are committed, so nobody
// works on parameters that are older than that.
//
// With staleness 0 sharing is synchronous: the updates of a round are held
// until all are in and applied in the order of mini-batches.  What a worker has
// of its own, its residual, follows from the mini-batches that it did; so
// mini-batch b goes to the worker of slot b mod width as long as that lives,
// and a run gives the same bits on every start.
//
// Pure bookkeeping: no clock, no messages.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_SHARING_ROUNDS_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_SHARING_ROUNDS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libcore/cluster/master/epoch/lease.h"
#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

class SharingRounds {
 public:
  // width >= 1.  owners: owners of the slots; outlives this object, and the
  // next epoch continues with it unless its width differs.
  SharingRounds(std::int64_t staleness, std::int64_t width,
                std::vector<std::uint64_t>& owners)
      : staleness_(staleness), width_(width), owners_(owners) {
    if (std::cmp_not_equal(owners.size(), width))
      owners.assign(static_cast<std::size_t>(width), 0);
  }

  bool synchronous() const { return staleness_ == 0; }
  // End of the mini-batches that may be begun when those below `prefix` are
  // committed.
  std::int64_t limit(std::int64_t prefix) const {
    return (prefix / width_ + staleness_ + 1) * width_;
  }

  // Deals the slots of workers that left to the others, and at least one to
  // each new worker, if there are enough.  workers: numbers, in a fixed order.
  void assign(const std::vector<std::uint64_t>& workers);
  // Owner of the mini-batch; 0: none.
  std::uint64_t owner(std::int64_t batch) const {
    return owners_[static_cast<std::size_t>(batch % width_)];
  }

  struct Held {
    std::uint64_t worker = 0;
    Update update;
    bool done = false;  // whether its TaskDone came
  };
  void hold(std::uint64_t worker, Update update);
  // Marks the TaskDone of a lease; false if nothing of the lease is held.
  bool mark_done(std::uint64_t lease);
  std::int64_t held_by(std::uint64_t worker) const;

  // If the round under way is complete, takes out its updates in the order of
  // mini-batches.  Updates of leases that have ended are forgotten.
  std::vector<Held> complete(const LeaseTable& table);
  // Takes out all updates.
  std::vector<Held> give_up();

 private:
  std::int64_t staleness_, width_;
  std::vector<std::uint64_t>& owners_;  // owners of the slots
  std::map<std::int64_t, Held> held_;   // updates held, by mini-batch
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_SHARING_ROUNDS_H_
