// The step of one sharing update.

#include "libcore/cluster/run_dir/update_step.h"

#include <cmath>

#include "libcore/exchange/rules/fasgd.h"

namespace dl::cluster {

void apply_update(const LogEntry& entry, double size, RunState& state) {
  exchange::add_update(entry.payload, -entry.scale, state.fasgd,
                       state.parameters);
  if (!entry.payload.empty()) state.constrain(state.parameters);
  state.version = entry.sequence;
  if (entry.threshold > 0) state.threshold = entry.threshold;
  const double scale = std::fabs(static_cast<double>(entry.scale));
  state.count(entry.count, entry.examples, entry.loss_sum, scale * size,
              entry.staleness);
}

}  // namespace dl::cluster
