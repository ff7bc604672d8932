// Devices by name.

#ifndef DL_LIBCORE_DEVICE_OPEN_H_
#define DL_LIBCORE_DEVICE_OPEN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/device.h"
#include "libcore/tensor/precision.h"

namespace dl::device {

// "cpu", "reference", "cuda" or "cuda:N"; "auto" is cuda where a usable one
// is found, else cpu.  Each call makes a new stream of execution.  open_lanes()
// takes several GPUs as well: "cuda:N,M,..." or "cuda:all".
//
// weights: what it may hold the weights of frozen layers in, where it gains by
// that; what they are multiplied with, and sums, stay reals.
//
// Throws Error: kUnavailable, there is no such device here (never falls back
// silently); kUsage, the name is none of these, or the device has no such
// precision.
std::unique_ptr<tensor::Device> open_device(
    std::string_view name,
    tensor::Precision weights = tensor::Precision::kFloat32);

// One device a thread: `threads` streams for cpu and reference, one for each
// GPU.
std::vector<std::unique_ptr<tensor::Device>> open_lanes(
    std::string_view name, int threads,
    tensor::Precision weights = tensor::Precision::kFloat32);

// For --version, one line a device: "cpu (oneDNN 2.6.3, avx512 kernels; weights
// in float32 or bfloat16)".
std::vector<std::string> describe_devices();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_OPEN_H_
