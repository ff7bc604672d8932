// A look at some Results of averaging with the master's own data: whether what
// a replica came to is worth what its worker tells of it.
//
// Results that stand out are looked at, those of a worker whose last answer was
// rejected, and others now and then.  One whose loss is far worse than its
// worker tells, and than before the round, is done again, by another worker if
// there is one.  Where two workers come to such losses in a round, it is how
// training goes, which store/loss_watch.h judges.

#ifndef DL_LIBCORE_CLUSTER_MASTER_AVERAGING_RESULT_AUDIT_H_
#define DL_LIBCORE_CLUSTER_MASTER_AVERAGING_RESULT_AUDIT_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/master/membership.h"
#include "libcore/cluster/protocol/message_averaging.h"

namespace dl::cluster {

struct RunContext;

class ResultAudit {
 public:
  // Why the result is to be done again; "": it may be used.  delta: its
  // difference from the state, finite.
  std::string fault_of(RunContext& context, const Member& member,
                       const Result& result, std::span<const float> delta);

 private:
  bool is_due(const RunContext& context, const Member& member, double size);

  double usual_ = 0;           // the largest norm of a difference of late
  double next_ = 0;            // when one is looked at that does not stand out
  double tolerance_ = 1;       // times a loss, that two workers have come to
  std::uint64_t version_ = 0;  // whose successors are looked at
  std::set<std::uint64_t> doubted_;  // parties, of such Results
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_AVERAGING_RESULT_AUDIT_H_
