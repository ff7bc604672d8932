// The line that a run shows of itself while it goes on.

#ifndef DL_LIBCORE_CLUSTER_MASTER_PROGRESS_LINE_H_
#define DL_LIBCORE_CLUSTER_MASTER_PROGRESS_LINE_H_

#include <string>

#include "libcore/base/json.h"
#include "libcore/cluster/master/coordinator.h"
#include "libcore/cluster/run_config/master_options.h"

namespace dl::cluster {

class ProgressLine {
 public:
  // Takes notice of what was done up to now; cheap.
  void observe(RunContext& context);
  // text(), or json() where the options want that.
  std::string line(RunContext& context, const Coordinator& coordinator,
                   const MasterOptions& options) const;
  // "epoch 2/5  loss 0.123  1234 examples/s  45.1 kB/s  2 workers  1:23 left".
  // detail: with the work of the exchange.
  std::string text(RunContext& context, const Coordinator& coordinator,
                   bool detail) const;
  // The same for programs: {"text", "epoch", "epochs", "loss", ...}.
  Json json(RunContext& context, const Coordinator& coordinator,
            bool detail) const;

 private:
  double since_ = -1;
  std::int64_t examples_ = 0;
  std::uint64_t bytes_ = 0;
  double seconds_left(const RunContext& context) const;  // 0: unknown

  double examples_per_second_ = 0, bytes_per_second_ = 0;  // smoothed speeds
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_PROGRESS_LINE_H_
