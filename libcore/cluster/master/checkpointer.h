// When the state of a run is saved, and what follows if it cannot be.

#ifndef DL_LIBCORE_CLUSTER_MASTER_CHECKPOINTER_H_
#define DL_LIBCORE_CLUSTER_MASTER_CHECKPOINTER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "libcore/cluster/master/run_context.h"
#include "libcore/cluster/run_dir/saving.h"

namespace dl::cluster {

class Checkpointer {
 public:
  using Save = std::function<std::unique_ptr<Saving>(bool aside)>;
  // save: begins to write context.state.
  Checkpointer(RunContext& context, Save save);

  // Saves the state, with what members know of it; that of a large network is
  // written beside the master's loop.  last: there will be none after it; then,
  // and after too many in a row, one that fails ends the run.
  // Throws Error: kConfig, the parameters are not finite; kIo, see last.
  void save(bool last = false);
  // Saves in the course of an epoch if a checkpoint is due, and at its end.
  void save_if_due();
  void save_epoch();
  // Waits until the checkpoint that is being written is there.  Throws Error:
  // kIo, too many could not be written.
  void settle() { end(false); }

 private:
  bool due() const;
  void begin(bool last);
  void end(bool last);
  void note_failure(const Error& error, bool last);

  RunContext& context_;
  Save save_;
  std::unique_ptr<Saving> saving_;
  Json saved_;   // the event of what is being written, but for its name
  double last_;  // time of the last checkpoint
  std::uint64_t batches_at_last_ = 0;
  std::uint64_t logged_at_last_ = 0;  // length of the log at the last one
  int failed_ = 0;                    // failures in a row
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_CHECKPOINTER_H_
