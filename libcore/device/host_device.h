// The base of all devices whose memory is the host's: cpu, reference.

#ifndef DL_LIBCORE_DEVICE_HOST_DEVICE_H_
#define DL_LIBCORE_DEVICE_HOST_DEVICE_H_

#include <span>

#include "libcore/device/api/device.h"

namespace dl::device {

class HostDevice : public Device {
 public:
  using View = tensor::View;

  void download(tensor::Tensor& dst, View src) override;
  void finish() override {}

  void add_numbers(View number, View numbers) override;
  void check_at_most(View number, View x, double most) override;
  void norm_factor(View factor, View squares, double most,
                   bool always) override;
  void read(std::span<double> to, View numbers) override;

  // host_threshold.cpp
  void threshold_encode(View places, View count, View r,
                        float threshold) override;
  void threshold_apply(View y, View places, float quantum) override;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_HOST_DEVICE_H_
