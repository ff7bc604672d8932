// What a run is asked to do: the options of dl-master that shape the result.
// Kept in run.json; a run resumes only with equal settings.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/exchange/threshold_rule.h"

namespace dl::cluster {

enum class Mode { kAveraging, kSharing };

struct Settings {
  Mode mode = Mode::kSharing;
  std::int64_t batch = 32;  // examples of a worker's mini-batch
  std::int64_t epochs = 1;
  std::uint64_t seed = 0;     // of the order of examples
  std::int64_t prefetch = 2;  // mini-batches read ahead

  // Averaging: every `frequency` mini-batches of each of `workers` replicas.
  std::int64_t frequency = 5;
  std::int64_t workers = 0;     // 0: as many as there are at a round's start
  bool average_updater = true;  // else updater state starts afresh

  // Sharing.
  exchange::ThresholdRule threshold;
  double clip_multiple = 5;     // residual to +-multiple * threshold ...
  std::int64_t clip_every = 5;  // ... every so many mini-batches; 0: never
  bool combine_mean = false;    // updates divided by the number of workers
  std::int64_t in_flight = 1;   // own updates not yet acknowledged

  // Evaluation of held-out data after each epoch, and when to stop.
  std::vector<std::string> evaluations;  // kinds, as for dl-eval
  std::string metric;                    // what patience and target look at
  std::int64_t patience = 0;  // epochs without improvement; 0: no limit
  std::string target;         // "accuracy=0.99", or ""

  Json to_json() const;
  static Settings from_json(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_H_
