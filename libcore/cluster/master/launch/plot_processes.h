// dl-plot processes that show a run while it lasts: --plot and --tensorboard.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_PLOT_PROCESSES_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_PLOT_PROCESSES_H_

#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/cluster/master/launch/child_process.h"
#include "libcore/cluster/run_config/master_options.h"

namespace dl::cluster {

class PlotProcesses {
 public:
  // run: its directory.  Logs where the pages and files are.  Nothing of a run
  // depends on them: what goes wrong is a warning.
  PlotProcesses(const MasterOptions& options, const std::string& run,
                const Log& log);
  ~PlotProcesses();  // ends the processes, which then see the last events
  PlotProcesses(const PlotProcesses&) = delete;
  PlotProcesses& operator=(const PlotProcesses&) = delete;

 private:
  std::string start(std::vector<std::string> words);

  std::vector<ChildProcess> processes_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_PLOT_PROCESSES_H_
