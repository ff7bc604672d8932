// How the parameters of a run and their changes are spread, by layer, for the
// history: dl-master --summary.

#ifndef DL_LIBCORE_CLUSTER_REPORT_PARAMETER_SUMMARY_H_
#define DL_LIBCORE_CLUSTER_REPORT_PARAMETER_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/run_dir/events.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

// Norm, mean and histogram of numbers.
struct Spread {
  // kMost: values that are counted; of more every n-th.
  static constexpr std::size_t kBins = 20, kMost = 4096;
  static Spread of(std::span<const float> values);
  // {"norm", "mean", "low", "high", "counts"}: equal parts from low to high.
  Json to_json() const;

  double norm = 0, mean = 0, low = 0, high = 0;
  std::vector<std::int64_t> counts;
};

class ParameterSummary {
 public:
  // batch: examples of a mini-batch.  every: mini-batches between two summaries
  // at the beginning; after each kDoubleAfter of them it doubles, which bounds
  // the history.
  ParameterSummary(const nn::NetworkConfig& network,
                   std::int64_t batches_per_epoch, std::int64_t batch,
                   std::int64_t every);

  // Adds how gradients and activations in a worker are spread, for the next
  // summary.  Names that are no layer's are left out.
  void take(const Spreads& spreads);

  // The fields of an event "summary" if one is due: the parameters of each
  // layer, their change since the last summary, and what take() was given.
  std::optional<Json> look(const RunState& state);

  // Writes that event.
  void write_if_due(const RunState& state, EventLog& events);

  static constexpr std::int64_t kDoubleAfter = 500;

 private:
  struct Layer {
    std::string name;
    std::size_t begin = 0, end = 0;  // of the flat vector
    nn::Schedule rate;
  };

  Json layers_of(const RunState& state, std::int64_t batches) const;

  std::vector<Layer> layers_;
  std::int64_t batches_per_epoch_, batch_, every_;
  std::int64_t count_ = 0, last_ = 0;
  std::uint64_t version_ = 0;
  std::set<std::string> names_;  // of all layers
  CountsOfLayers counts_;        // since the last summary
  std::vector<float> before_;    // at the last summary
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_REPORT_PARAMETER_SUMMARY_H_
