// The settings of gradient sharing, dl-exchange(7).

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_SHARING_SETTINGS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_SHARING_SETTINGS_H_

#include <cstdint>
#include <optional>

#include "libcore/base/json.h"
#include "libcore/base/names.h"
#include "libcore/exchange/rules/staleness_rule.h"
#include "libcore/exchange/rules/threshold_rule.h"

namespace dl::cluster {

// Factor of an update: for N workers 1, 1/N or 1/sqrt(N); or, of k updates that
// were computed without each other, their gradient diversity
// (exchange/rules/gradient_diversity.h), with momentum for as many
// (nn::Position).
enum class Combine { kSum, kMean, kScaled, kDiversity };
constexpr Names<Combine, 4> kCombineNames{{{{Combine::kDiversity, "diversity"},
                                            {Combine::kSum, "sum"},
                                            {Combine::kMean, "mean"},
                                            {Combine::kScaled, "scaled"}}}};
// Quantity that is shared: what the updater makes of the gradient, or the
// gradient, with momentum correction where the updater has momentum (Lin et al.
// 2018).
enum class Share { kUpdate, kGradient };
constexpr Names<Share, 2> kShareNames{
    {{{Share::kUpdate, "update"}, {Share::kGradient, "gradient"}}}};

struct SharingSettings {
  exchange::ThresholdRule threshold;
  bool per_tensor = true;    // whether each tensor has its own threshold
  std::int64_t warmup = 0;   // number of mini-batches until the target density
  double clip_multiple = 5;  // clips the residual to +-multiple * threshold
  std::int64_t clip_every = 5;  // mini-batches between two clippings; 0: never
  Share share = Share::kUpdate;
  bool masking = true;  // kGradient: whether momentum of sent elements restarts

  Combine combine = Combine::kDiversity;
  std::int64_t in_flight = 1;  // greatest number of unanswered own updates
  exchange::StalenessRule staleness_rule;
  // A mini-batch of round r is computed when all of the rounds before
  // r - staleness are applied; 0: synchronous.  Nothing: no bound.
  std::optional<std::int64_t> staleness;
  std::int64_t push = 1;   // number of mini-batches of an update
  std::int64_t fetch = 1;  // mini-batches between two looks at others' updates
  std::int64_t agree_every =
      0;  // mini-batches of all between two checks; 0: at epochs' ends

  Json to_json() const;
  static SharingSettings from_json(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_SHARING_SETTINGS_H_
