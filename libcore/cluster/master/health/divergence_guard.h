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
  // hooks: go_back and where_model are called.
  DivergenceGuard(RunContext& context, const Hooks& hooks,
                  Checkpointer& checkpoints)
      : context_(context), hooks_(hooks), checkpoints_(checkpoints) {}

  // Looks at the losses, and at answers that nobody can give any more.
  // ending: the losses do not count.  True: the run went back, as by
  // go_back().
  // Throws Error: it cannot go on.
  bool watch_training(bool ending);
  // If only the losses of one worker are bad, beside those of others or that of
  // the run's own parameters, that is put out, and the run goes on as it is.
  // False: it is not so.
  bool blame_worker();
  // Looks at the held-out scores so far.
  void watch_score();
  // Takes the run back to before its training went wrong, and saves it; there
  // is no phase then.  False: it is not wanted, or not possible.
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
  bool said_ = false;  // that training goes wrong
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_DIVERGENCE_GUARD_H_
