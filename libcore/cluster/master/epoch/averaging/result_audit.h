// A look at some Results of averaging with the master's own data: whether what
// a replica came to is worth what its worker tells of it.
//
// Results whose differences are unusually large are looked at, and no others: a
// master that reads data may die of it as workers do.  One whose loss is far
// worse than its worker tells, and than before the round, is done again, by
// another worker if there is one.  Where two workers come to such losses in a
// round, the lower one is how training goes, which health/loss_watch.h judges.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_RESULT_AUDIT_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_RESULT_AUDIT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/cluster/master/members/membership.h"
#include "libcore/cluster/protocol/message_averaging.h"

namespace dl::cluster {

struct RunContext;

class ResultAudit {
 public:
  // Returns why the slot of the Result is to be done again, or "".  delta: its
  // difference from the state, finite.
  std::string fault_of(RunContext& context, const Member& member,
                       const Result& result, std::span<const float> delta);

 private:
  bool stands_out(const RunContext& context, double size) const;
  double agreed_factor() const;

  double usual_ = 0;           // largest norm of a difference of late
  double tolerance_ = 1;       // factor of a loss that two workers came to
  std::uint64_t version_ = 0;  // version whose successors are checked
  // Parties whose Results are doubted, with the factor of their losses.
  std::map<std::uint64_t, double> doubted_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_AVERAGING_RESULT_AUDIT_H_
