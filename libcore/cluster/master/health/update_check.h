// The check of an update of sharing before it is accepted.
//
// Its quanta follow from a threshold, and thresholds move slowly: one that is
// out of all proportion to those of late, or to the parameters, does not come
// from training.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_UPDATE_CHECK_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_UPDATE_CHECK_H_

#include <span>
#include <string>

#include "libcore/cluster/health/step_bound.h"
#include "libcore/cluster/protocol/message_sharing.h"
#include "libcore/exchange/rules/threshold_rule.h"

namespace dl::cluster {

class UpdateCheck {
 public:
  // Greatest ratio of a threshold to the largest one of late.
  static constexpr double kProportion = 1000;

  explicit UpdateCheck(const exchange::ThresholdRule& rule);

  // Begins with the threshold of a run that is resumed, if it is not 0.
  void start_from(double threshold);

  // Why the update's threshold and quanta cannot be accepted; "": they can.
  // times: what applying multiplies quanta with at the most.
  std::string fault_of(const Update& update, double times,
                       std::span<const float> parameters);
  // The update that fault_of() passed last was applied.
  void accepted(const Update& update);
  // Mass of the update that fault_of() passed last.
  const exchange::Mass& mass() const { return mass_; }

 private:
  // The largest threshold of late; 0: not known, as the rule's first one says
  // nothing.
  double usual_ = 0;
  // State of the update that was looked at last.
  double step_ = 0;
  exchange::Mass mass_;
  StepBound bound_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_UPDATE_CHECK_H_
