// The response to training that goes wrong: --on-divergence.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_DIVERGENCE_GUARD_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_DIVERGENCE_GUARD_H_

#include <string>
#include <string_view>

#include "libcore/cluster/master/checkpointer.h"
#include "libcore/cluster/master/hooks.h"
#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

class DivergenceGuard {
 public:
  // hooks: calls go_back and where_model.
  DivergenceGuard(RunContext& context, const Hooks& hooks,
                  Checkpointer& checkpoints)
      : context_(context), hooks_(hooks), checkpoints_(checkpoints) {}

  // Looks at the losses, and at answers that no worker can give any more.
  // ending: the losses do not count.  Returns true if the run was rolled back,
  // as by go_back().
  // Throws Error: the run cannot continue.
  bool watch_training(bool ending);
  // If only the losses of one worker are bad, compared with those of others or
  // of the run's own parameters, removes that worker and returns true; the run
  // continues as it is.
  bool blame_worker();
  // Looks at the held-out scores so far.
  void watch_score();
  // Rolls the run back to before its training went wrong, and saves it; there
  // is no phase then.  Returns false if that is not wanted, or not possible.
  bool go_back(const std::string& why);

 private:
  void look_at_losses();
  void put_out(const ToldLosses::Odd& odd, bool by_own);
  void take_back(RunState state);
  void log_setback(std::uint64_t before);
  void write_divergence(const std::string& what, std::string_view action);
  void note_divergence(const std::string& what);

  RunContext& context_;
  const Hooks& hooks_;
  Checkpointer& checkpoints_;
  bool said_ = false;  // whether the user was told that training goes wrong
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_DIVERGENCE_GUARD_H_
