// The course of a run: takes the epochs through training and evaluation, until
// there are enough of them.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_EPOCHS_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_EPOCHS_H_

#include <string>

#include "libcore/cluster/master/checkpointer.h"
#include "libcore/cluster/master/epoch/evaluation_master.h"
#include "libcore/cluster/master/health/divergence_guard.h"
#include "libcore/cluster/master/hooks.h"
#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/run_dir/early_stopping.h"

namespace dl::cluster {

class Epochs {
 public:
  // Continues from context.state.  hooks: uses keep_best, measured, go_back and
  // where_model.
  Epochs(RunContext& context, const Hooks& hooks, Checkpointer& checkpoints);

  // Begins the first phase, unless there is one.
  void begin();
  // Hands out work, and begins the next phase when one is done.
  void tick();
  // Rolls back, or ends the run, if training goes wrong.  stopping: the losses
  // do not count any more.  Throws Error: the run cannot continue.
  void watch_training(bool stopping);
  // Grants no new work once the run's time is over.
  void watch_time();

  bool evaluating() const { return evaluation_ != nullptr; }

 private:
  using Evaluations = EvaluationRound::Evaluations;

  void begin_epoch();
  void begin_again();
  void begin_evaluation();
  void advance();
  void end_training();
  void end_untrained();
  void end_epoch(const Evaluations& evaluations);
  EpochScore score(const Evaluations& evaluations) const;
  void announce(const EpochScore& score, const Evaluations& evaluations);
  void keep_score(EpochScore score);
  void next_epoch();
  // Metric of early stopping.
  std::string metric() const;

  RunContext& context_;
  const Hooks& hooks_;
  Checkpointer& checkpoints_;
  DivergenceGuard guard_;
  EarlyStopping early_stopping_;
  EvaluationRound* evaluation_ = nullptr;  // context.phase, if that is one
  Json passed_over_;  // mini-batches left out of the trained epoch
  bool time_is_up_ = false;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_EPOCHS_H_
