// When the state of a run is saved, and what follows if it cannot be.

#ifndef DL_LIBCORE_CLUSTER_MASTER_CHECKPOINTER_H_
#define DL_LIBCORE_CLUSTER_MASTER_CHECKPOINTER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

class Checkpointer {
 public:
  // save: writes context.state and returns the checkpoint's name.
  Checkpointer(RunContext& context, std::function<std::string()> save);

  // Saves the state, with what members know of it.  last: there will be none
  // after it; then, and after too many in a row, one that fails ends the run.
  // Throws Error: kConfig, the parameters are not finite; kIo, see last.
  void save(bool last = false);
  // Saves in the course of an epoch if a checkpoint is due, and at its end.
  void save_if_due();
  void save_epoch();

 private:
  bool due() const;
  void note_failure(const Error& error, bool last);

  RunContext& context_;
  std::function<std::string()> save_;
  double last_;  // time of the last checkpoint
  std::uint64_t batches_at_last_ = 0;
  std::uint64_t logged_at_last_ = 0;  // length of the log at the last one
  int failed_ = 0;                    // failures in a row
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_CHECKPOINTER_H_
