// The losses of a run as a line of characters, for a terminal.

#ifndef DL_LIBCORE_CLUSTER_REPORT_LOSS_CURVE_H_
#define DL_LIBCORE_CLUSTER_REPORT_LOSS_CURVE_H_

#include <string>

#include "libcore/base/json.h"

namespace dl::cluster {

// Lines "loss  █▆▄▂▁  2.3 to 0.12" of the report's epochs, for training and the
// metric "log_loss"; "" if there are fewer than two.
std::string loss_curve(const Json& report);

// Whether the environment's locale is one of UTF-8, as these characters are.
bool shows_blocks();

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_REPORT_LOSS_CURVE_H_
