// Lending of a team's threads to a device.

#ifndef DL_LIBCORE_NN_LANE_WITH_THREADS_H_
#define DL_LIBCORE_NN_LANE_WITH_THREADS_H_

#include "libcore/device/api/device.h"
#include "libcore/nn/lane/lane_team.h"

namespace dl::nn {

// A device has the team's threads for as long as this lives.
class WithThreads {
 public:
  WithThreads(device::Device& device, LaneTeam& team) : device_(device) {
    device.use(&team.threads());
  }
  ~WithThreads() { device_.use(nullptr); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;

 private:
  device::Device& device_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_WITH_THREADS_H_
