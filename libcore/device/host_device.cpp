// Common methods of devices in host memory.

#include "libcore/device/host_device.h"

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/norms.h"

namespace dl::device {

void HostDevice::download(tensor::Tensor& dst, View src) {
  download_host(dst, src);
}

void HostDevice::add_numbers(View number, View numbers) {
  require(numbers.dtype == tensor::DType::kF64, "a sum of what are no numbers");
  double& sum = number_in(number);
  for (std::int64_t i = 0; i < numbers.elements(); ++i)
    sum += numbers.as<double>()[i];
}

void HostDevice::check_at_most(View number, View x, double most) {
  if (!(number_in(x) <= most)) spoil(number);
}

void HostDevice::norm_factor(View factor, View squares, double most,
                             bool always) {
  double& made = number_in(factor);
  made = 0;
  add_numbers(factor, squares);
  made = clipping_factor(std::sqrt(made), most, always);
}

void HostDevice::read(std::span<double> to, View numbers) {
  read_host(to, numbers);
}

}  // namespace dl::device
