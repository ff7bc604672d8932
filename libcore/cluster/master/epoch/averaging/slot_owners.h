// The worker that has the history of each of averaging's slots: what coding has
// left out, updater state that is kept, what the slot learnt last.  A slot
// stays with its worker; when that is gone, the history is lost.
//
// Pure bookkeeping: nothing is sent.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_SLOT_OWNERS_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_SLOT_OWNERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dl::cluster {

class SlotOwners {
 public:
  // Gives each of the first `slots` slots to one of the workers (numbers from
  // 1; none: nothing happens).  A slot stays with its owner if that is among
  // them, or is `away`: its connection ended, and it may be back in a moment.
  // Free slots go to the workers with the fewest.  rebalance: an owner with
  // more than its share loses the excess.
  void assign(std::size_t slots, const std::vector<std::uint64_t>& workers,
              const std::vector<std::uint64_t>& away, bool rebalance);
  std::uint64_t owner(std::size_t slot) const;  // 0: nobody

  // The round in which `worker` did the slot last, for one that is to do
  // `round`; 0: it begins afresh.  Rounds overlap: it may have come to the slot
  // in the next one and get this one later, when who had it is gone.
  std::uint64_t history(std::size_t slot, std::uint64_t worker,
                        std::uint64_t round) const;
  // The worker's answer for the round was accepted.  Not its owner: ignored.
  void learnt(std::size_t slot, std::uint64_t worker, std::uint64_t round);
  // Forgets a worker's history of the slot, which is of no use any more.
  void forget(std::size_t slot, std::uint64_t worker);
  void forget(std::uint64_t worker);  // of all slots, which become free
  // The slot goes to this worker, and its history is lost.
  void give(std::size_t slot, std::uint64_t worker);
  // The slot goes to the owner of the next one that has another, and that one
  // comes for it; both lose their histories.
  void swap_owner(std::size_t slot);

  std::uint64_t lost() const { return lost_; }  // histories

 private:
  struct Owner {
    std::uint64_t worker = 0, round = 0;
  };
  void release(Owner& owner);

  std::vector<Owner> owners_;
  std::uint64_t lost_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_SLOT_OWNERS_H_
