// Folders that TensorBoard opens: a folder in them for each run, model or
// report, with an event file.

#ifndef DL_LIBCORE_PLOT_TENSORBOARD_FOLDER_H_
#define DL_LIBCORE_PLOT_TENSORBOARD_FOLDER_H_

#include <functional>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/plot/operand.h"
#include "libcore/plot/run.h"

namespace dl::plot {

// Writes each run to the folder of its name.  Throws Error: kCantCreate, kIo.
void write_tensorboard(const std::vector<Run>& runs, const std::string& folder,
                       const Log& log);
// The same of reports or models.  Throws as their readers, too.
void write_tensorboard(const std::vector<std::string>& paths, Subject subject,
                       const std::string& folder, const Log& log);
// Writes runs as they grow, until all have ended or the process is sent SIGTERM
// or SIGINT, and then what is new.  begun: called once there are files.  To be
// called where there is one thread.
void follow_tensorboard(std::vector<Run>& runs, const std::string& folder,
                        const std::function<void()>& begun, const Log& log);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_TENSORBOARD_FOLDER_H_
