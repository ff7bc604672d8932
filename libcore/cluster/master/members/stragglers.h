// Workers that are much slower than the others: how fast each is, and who is to
// be told of.
//
// A worker's time for a mini-batch is measured here, from when it has work, so
// that waiting for others does not count.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MEMBERS_STRAGGLERS_H_
#define DL_LIBCORE_CLUSTER_MASTER_MEMBERS_STRAGGLERS_H_

#include <cstdint>
#include <vector>

#include "libcore/cluster/master/members/membership.h"

namespace dl::cluster {

// Notes that the member had nothing to do and got work.
void note_begun(Member& member, double now);
// Notes that the member has trained so many mini-batches, >= 1, since then or
// since the last call.
void note_trained(Member& member, std::int64_t batches, double now);

// Notes that the member has not yet trained so many, as far as is known.
void note_at_least(Member& member, std::int64_t batches, double now);

// Seconds that workers need for a mini-batch, to compare each with the others.
class Medians {
 public:
  explicit Medians(const std::vector<Member*>& workers);
  // Median in seconds without this member; 0 if no other is known well.
  double of_others(const Member& member) const;

 private:
  std::vector<double> known_;  // sorted times
};

// How long a member that works may give no answer, in seconds, where others
// need `median` for a mini-batch, > 0, and so many are to be in the answer:
// from `least` on, and longer each time that it was too long.
double longest_without_answer(const Member& member, double median,
                              std::int64_t batches, double least);
// A member that was barren so many times is removed.
constexpr int kMostBarren = 4;

struct Straggler {
  Member* member = nullptr;
  double factor = 1;  // its time divided by the others' median
};

// Workers that have been much slower than the others for some time, and have
// not been reported, or not with such a factor: each is returned once.
std::vector<Straggler> find_stragglers(const std::vector<Member*>& workers,
                                       double now);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_STRAGGLERS_H_
