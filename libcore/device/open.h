// Devices by name.

#ifndef DL_LIBCORE_DEVICE_OPEN_H_
#define DL_LIBCORE_DEVICE_OPEN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/device/api/precision.h"

namespace dl::device {

enum class Use { kTraining, kPrediction };

// "float32", "tf32" or "bfloat16".  Throws Error: kUsage, it is none of these.
Precision precision_of(std::string_view name);
std::string_view name_of(Precision precision);

// The same, as it is in a device whose numbers are float64 throughout:
// "float64".
std::string_view name_of(Precision precision, const Device& device);

// The device that "auto" stands for here: cuda where a GPU can be seen, else
// cpu.
struct Choice {
  std::string name;
  std::string why;      // it is the cpu
  bool broken = false;  // a GPU may be there, but cannot be used
};
Choice choose_device();

// "cpu", "reference", "cuda", "cuda:N" or "auto", see above.  Each call makes a
// new stream of execution.  open_lanes() takes several GPUs as well:
// "cuda:N,M,..." or "cuda:all".
//
// precision: of products, where the device gains by it.  The cpu, which has
// bfloat16 for predictions alone, rounds no factor but weights that are frozen.
//
// Throws Error: kUnavailable, there is no such device here (never falls back
// silently); kUsage, the name is none of these, or the device has no such
// precision for this use.
std::unique_ptr<Device> open_device(std::string_view name,
                                    Precision precision = Precision::kFloat32,
                                    Use use = Use::kTraining);

// One device a thread: `threads` streams for cpu and reference, one for each
// GPU.
std::vector<std::unique_ptr<Device>> open_lanes(
    std::string_view name, int threads,
    Precision precision = Precision::kFloat32, Use use = Use::kTraining);

// Whether open_lanes() knows the name; whether there is such a device is not
// looked at.  Throws Error: kUsage, it does not.
void check_device_name(std::string_view name);

// For --version, one line a device: "cpu (oneDNN 2.6.3, avx512 kernels; weights
// in float32 or bfloat16)".
std::vector<std::string> describe_devices();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_OPEN_H_
