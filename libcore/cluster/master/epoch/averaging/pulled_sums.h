// The average of a round whose Results stay with their workers until the master
// asks for them.  It asks for the same few pieces of every slot and averages a
// piece as soon as it has that of all, so it holds a small part of each Result
// and never a whole one.
//
// Pure bookkeeping: nothing is sent.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_PULLED_SUMS_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_PULLED_SUMS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "libcore/cluster/protocol/message_averaging.h"

namespace dl::cluster {

class PulledSums {
 public:
  // elements: number of elements of a Result, as Pull counts them.
  PulledSums(std::size_t slots, std::size_t elements);

  // Notes that a worker holds the slot's Result.  Of two that do, the first
  // counts.
  void offer(std::size_t slot, const SlotCount& count);
  // Takes the slot's vectors as a whole.  Throws Error: kBug, their number
  // differs.
  void put(std::size_t slot, const SlotCount& count, std::vector<float> values);
  // Leaves the slot out of the average.
  void pass_over(std::size_t slot);
  // Drops the slot's offer or vectors; pieces that were averaged with it are
  // averaged again.
  void lose(std::size_t slot);

  // The lease that gave or offered the slot's Result; 0: none.
  std::uint64_t lease_of(std::size_t slot) const;
  // Whether the slot was asked for elements that have not come.
  bool owes(std::size_t slot) const;

  // Calls send(slot, pull) once for each piece to be asked for now; again only
  // for pieces that are averaged again.  If send returns false, the slot is
  // asked at the next call.
  void request(const std::function<bool(std::size_t, const Pull&)>& send);
  // Takes elements of the offered slot, from `first` on.  Returns false if they
  // were not asked for, or are here already.
  bool take(std::size_t slot, std::size_t first, std::vector<float> values);

  // Whether all pieces are averaged.
  bool complete() const { return next_ == pieces(); }
  // The counts and the average of all slots.  Only when complete.
  const std::vector<SlotCount>& counts() const { return counts_; }
  std::vector<float>& mean() { return mean_; }

 private:
  struct Slot {
    bool given = false, passed_over = false, is_here = false;
    SlotCount count;
    std::vector<float> whole;                        // whole Result, if is_here
    std::map<std::size_t, std::vector<float>> come;  // pieces that have come
    std::size_t asked = 0;  // number of pieces asked for
  };
  std::size_t pieces() const { return (elements_ + piece_ - 1) / piece_; }
  std::size_t size_of(std::size_t piece) const;
  bool has(const Slot& slot, std::size_t piece) const;
  void average();

  std::size_t elements_, piece_, window_;
  std::vector<Slot> slots_;
  std::vector<SlotCount> counts_;
  std::vector<float> mean_;
  std::size_t next_ = 0;  // next piece to be averaged
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_PULLED_SUMS_H_
