// Devices by name.

#ifndef DL_LIBCORE_DEVICE_OPEN_H_
#define DL_LIBCORE_DEVICE_OPEN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/device.h"

namespace dl::device {

// "cpu", "reference", "cuda" or "cuda:N"; "auto" is cuda where a usable one
// is found, else cpu.  Each call makes a new stream of execution.
//
// Throws Error: kUnavailable, there is no such device here (never falls back
// silently); kUsage, the name is none of these.
std::unique_ptr<tensor::Device> open_device(std::string_view name);

// One device a thread: `threads` streams for cpu and reference, one for cuda.
std::vector<std::unique_ptr<tensor::Device>> open_lanes(std::string_view name,
                                                        int threads);

// For --version: "cpu (oneDNN 2.6.3, avx512 kernels)", one line a device.
std::vector<std::string> describe_devices();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_OPEN_H_
