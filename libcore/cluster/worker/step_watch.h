// Counts how gradients and activations of some steps are spread, for the
// history of the run: dl-master --summary.

#ifndef DL_LIBCORE_CLUSTER_WORKER_STEP_WATCH_H_
#define DL_LIBCORE_CLUSTER_WORKER_STEP_WATCH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/nn/network.h"

namespace dl::cluster {

class StepWatch {
 public:
  // every: watches each of so many steps of the network, 0: none; fewer where
  // that would take more than kMostShare of the time.  network and clock
  // outlive this object.
  StepWatch(nn::Network& network, std::int64_t every, dl::Clock& clock);
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  void before_step();
  // sound: whether the step counts.  Returns what is to be sent now, at most
  // once in kSecondsBetween.
  std::optional<Spreads> after_step(bool sound);

  static constexpr double kMostShare = 0.002, kSecondsBetween = 0.5;

 private:
  void take_outputs(std::size_t layer, std::span<const float> values);
  void take_gradient(std::span<const float> values);

  nn::Network& network_;
  std::int64_t every_, steps_ = 0;
  dl::Clock& clock_;
  nn::Watch watch_;
  bool watching_ = false;
  double began_ = 0, spent_ = 0, sent_ = 0;  // seconds
  CountsOfLayers step_, all_;  // of this step; of those not sent yet
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_WORKER_STEP_WATCH_H_
