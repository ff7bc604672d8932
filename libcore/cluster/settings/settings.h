// The settings of a run: the options of dl-master that shape the result.
// Kept in run.json; a run resumes only with equal settings.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_SETTINGS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/base/names.h"
#include "libcore/cluster/settings/averaging_settings.h"
#include "libcore/cluster/settings/sharing_settings.h"

namespace dl::cluster {

enum class Mode { kAveraging, kSharing, kSync };
constexpr Names<Mode, 3> kModeNames{{{{Mode::kAveraging, "averaging"},
                                      {Mode::kSharing, "sharing"},
                                      {Mode::kSync, "sync"}}}};
// Whether replicas meet in rounds of slots, all in the same state at the start
// of each: what they give is averaged, parameters or (sync) gradients.
constexpr bool in_rounds(Mode mode) { return mode != Mode::kSharing; }

struct Settings {
  Mode mode = Mode::kSharing;
  std::int64_t batch = 32;  // examples of a worker's mini-batch
  std::int64_t epochs = 1;
  std::uint64_t seed = 0;     // seed of the order of examples
  std::int64_t prefetch = 2;  // mini-batches read ahead
  // Whether all processors use the same instructions.
  bool deterministic = false;
  std::int64_t lr_warmup = 0;  // number of updater steps, nn/update/warmup.h

  // Settings of Mode::kAveraging; of kSync, how many slots there are, and else
  // what for_sync() says.
  AveragingSettings averaging;
  SharingSettings sharing;  // settings of Mode::kSharing

  // Evaluation of held-out data after each epoch, and when to stop.
  std::vector<std::string> evaluations;  // kinds of evaluation, as for dl-eval
  std::string metric;                    // metric of patience and target
  std::int64_t patience = 0;  // epochs without improvement; 0: no limit
  std::string target;         // "accuracy=0.99", or ""

  Json to_json() const;
  static Settings from_json(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_SETTINGS_H_
