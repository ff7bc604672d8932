// Evaluation of held-out data by the workers: leases of fixed ranges whose
// mergeable results are put together in the order of the data, so that the
// outcome does not depend on who did what.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_EVALUATION_MASTER_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_EVALUATION_MASTER_H_

#include <map>
#include <memory>
#include <vector>

#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/eval/evaluation.h"

namespace dl::cluster {

class EvaluationRound : public Phase {
 public:
  explicit EvaluationRound(RunContext& context);

  void tick() override;
  void take(Member& member, const Message& message) override;
  bool done() const override { return table_.complete() || winding_up_; }
  bool complete() const { return table_.complete(); }
  bool at_boundary() const override { return true; }
  // The committed ranges of training, as context.state.committed stays as it
  // is.
  Ranges committed() const override { return context_.state.committed; }

  using Evaluations = std::vector<std::unique_ptr<eval::Evaluation>>;
  // One evaluation of each kind, over all data.  Only when complete().
  Evaluations result() const;

 protected:
  LeaseTable& table() override { return table_; }
  data::Epoch& order() override { return order_; }
  bool is_evaluation() const override { return true; }

 private:
  void take_done(Member& member, const TaskDone& done);
  void speculate();
  double median_seconds();

  data::Epoch order_;
  LeaseTable table_;
  std::map<std::int64_t, Evaluations> parts_;  // results by first mini-batch
  std::vector<double> seconds_;  // seconds a mini-batch of each finished lease
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_EVALUATION_MASTER_H_
