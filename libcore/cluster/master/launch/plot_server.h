// A dl-plot process that serves the pages of a run while it lasts.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LAUNCH_PLOT_SERVER_H_
#define DL_LIBCORE_CLUSTER_MASTER_LAUNCH_PLOT_SERVER_H_

#include <optional>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/master/launch/child_process.h"

namespace dl::cluster {

class PlotServer {
 public:
  // address: [ADDRESS:]PORT.  Logs where the pages are.  Nothing of a run
  // depends on them: what goes wrong is a warning.
  PlotServer(const std::string& address, const std::string& run,
             const Log& log);
  ~PlotServer();  // ends the process
  PlotServer(const PlotServer&) = delete;
  PlotServer& operator=(const PlotServer&) = delete;

 private:
  std::optional<ChildProcess> process_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LAUNCH_PLOT_SERVER_H_
