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
  std::uint64_t owner(std::size_t slot) const;  // owner of the slot; 0: none

  // The round in which `worker` did the slot last, for one that is to do
  // `round`; 0: it begins afresh.  Rounds overlap: it may have come to the slot
  // in the next one and get this one later, when who had it is gone.
  std::uint64_t history(std::size_t slot, std::uint64_t worker,
                        std::uint64_t round) const;
  // Notes that the worker's answer for the round was accepted; ignored if the
  // worker does not own the slot.
  void learnt(std::size_t slot, std::uint64_t worker, std::uint64_t round);
  // Forgets a worker's history of the slot, which is of no use any more.
  void forget(std::size_t slot, std::uint64_t worker);
  void forget(std::uint64_t worker);  // frees all slots of the worker
  // Gives the slot to this worker; its history is lost.
  void give(std::size_t slot, std::uint64_t worker);
  // Exchanges the slot with the next one that has another owner; both lose
  // their histories.
  void swap_owner(std::size_t slot);

  // Number of histories that were lost.
  std::uint64_t lost() const { return lost_; }

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
