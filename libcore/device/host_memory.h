// Memory of the devices that compute in the host's own: cpu and reference.

#ifndef DL_LIBCORE_DEVICE_HOST_MEMORY_H_
#define DL_LIBCORE_DEVICE_HOST_MEMORY_H_

#include <memory>
#include <optional>
#include <span>

#include "libcore/device/api/device.h"

namespace dl::device {

// Zeros, 64-byte aligned; dtype: `real`, kI32, or kF64.
// Throws Error: kUnavailable, not enough memory.
std::unique_ptr<tensor::Buffer> allocate_host(tensor::DType real,
                                              tensor::DType dtype,
                                              tensor::Shape shape);

// Uploads integers as Device::upload() promises.
void upload_integers(const tensor::View& dst, const tensor::Tensor& src);

// Downloads as Device::download() promises.
void download_host(tensor::Tensor& dst, const tensor::View& src);

// Reads as Device::read() promises.
void read_host(std::span<double> to, const tensor::View& numbers);

// The one number that the view is.
double& number_in(const tensor::View& number);
// Makes it NaN.
void spoil(const tensor::View& number);

// The scale of a step with its factor; nothing, after the number was spoilt:
// its guard is NaN.
std::optional<double> gated_scale(const UpdaterStep& step,
                                  const tensor::View& number);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_HOST_MEMORY_H_
