// Early stopping: patience and target over one metric.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_EARLY_STOPPING_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_EARLY_STOPPING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/base/json.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/settings/settings.h"

namespace dl::cluster {

// "accuracy=0.99".  Throws Error: kUsage.
struct Target {
  std::string metric;
  double value = 0;
  static Target parse(const std::string& text);
};

class EarlyStopping {
 public:
  // patience: epochs without improvement before the end; 0: no limit.
  EarlyStopping(bool higher_is_better, std::int64_t patience,
                std::optional<double> target);

  // Takes an epoch's score; NaN is no improvement.  Returns true if it is the
  // best.
  bool observe(std::int64_t epoch, double score);

  // Reason to stop now, as "no better accuracy for 3 epochs", or "".
  std::string verdict(const std::string& metric) const;

  Json to_json() const;
  void restore(const JsonView& json);

 private:
  bool reached() const;

  bool higher_is_better_;
  std::int64_t patience_;
  std::optional<double> target_;
  std::optional<double> best_;
  std::int64_t best_epoch_ = -1;
  std::int64_t without_ = 0;  // number of epochs since the best
};

// Early stopping by the settings, continued from the state.  Throws Error:
// kData.
EarlyStopping early_stopping_of(const Settings& settings,
                                const RunState& state);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_EARLY_STOPPING_H_
