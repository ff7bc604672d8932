// Workers that were lost with mini-batches: somebody else does those then, and
// whether it is the data that workers die of.
//
// Whoever is started in place of one that died is often on its host or has its
// name or key, and dies of the same: too little memory, a broken device.  So it
// does not get the same work again while others are there, and all of one host,
// key or name are one witness against data.
//
// Pure bookkeeping.  Not thread-safe.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_LOSSES_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_LOSSES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcore/cluster/master/members/membership.h"

namespace dl::cluster {

class Losses {
 public:
  static constexpr std::size_t kWitnesses = 3;

  // Notes that the member was lost with a lease of the mini-batch; at_hand:
  // while it trained this mini-batch, as it had said.
  void add(std::int64_t batch, const Member& member, bool at_hand);
  // Notes that the process was not lost after all.
  void forgive(std::uint64_t process);
  // Notes that the mini-batches are done.
  void settle(std::int64_t first, std::int64_t count);
  bool concern(std::int64_t batch) const { return lost_.contains(batch); }

  // Whether the member may do the mini-batch: none of the others has less in
  // common with the processes that were lost with it.
  bool may(const Member& member, std::int64_t batch,
           const std::vector<Member*>& workers) const;

  // "3 workers, a (worker 1), b (worker 2)" if the mini-batch is to blame:
  // three died over it, on three hosts or on all that there are, also one of
  // those whose work was good before, if others are like that.  Else "".
  // others: the other members.
  std::string victims(std::int64_t batch,
                      const std::vector<Member*>& others) const;

 private:
  struct Loss {
    std::string name, host, key, description;
    std::uint64_t process = 0;  // last process that was lost
    int at_hand = 0;            // number of processes that died over it
    bool last_at_hand = false;  // whether the last one died over it
    bool proven = false;        // whether one of them had given good answers
  };
  void set_process(Loss& loss, std::int64_t batch, std::uint64_t process);
  static int kinship(const Loss& loss, const Member& member);
  int rank(const Member& member, const std::vector<Loss>& lost) const;

  std::map<std::int64_t, std::vector<Loss>> lost_;  // losses by mini-batch
  // Mini-batches of the losses, by lost process.
  std::map<std::uint64_t, std::set<std::int64_t>> batches_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_LOSSES_H_
