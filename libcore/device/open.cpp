// Devices by name.

#include "libcore/device/open.h"

#include <charconv>

#include "libcore/base/error.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cuda_plugin.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

constexpr int kMaxCuda = 1023;

[[noreturn]] void unknown(std::string_view name) {
  throw Error{Code::kUsage, "unknown device '" + std::string(name) +
                                "': want auto, cpu, cuda, cuda:N or reference"};
}

// The N of "cuda:N", 0 for "cuda".
int cuda_index(std::string_view name) {
  if (name == "cuda") return 0;
  const std::string_view digits = name.substr(std::string_view("cuda:").size());
  int index = -1;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool whole =
      error == std::errc() && end == digits.data() + digits.size();
  if (!whole || index < 0 || index > kMaxCuda) unknown(name);
  return index;
}

std::unique_ptr<tensor::Device> open_auto(tensor::Precision weights) {
  try {
    return open_cuda(0);
  } catch (const Error& e) {
    if (e.code() != Code::kUnavailable) throw;
    return std::make_unique<CpuDevice>(weights);
  }
}

std::unique_ptr<tensor::Device> open_any(std::string_view name,
                                         tensor::Precision weights) {
  if (name == "auto") return open_auto(weights);
  if (name == "cpu") return std::make_unique<CpuDevice>(weights);
  if (name == "reference") return std::make_unique<ReferenceDevice>();
  if (name == "cuda" || name.starts_with("cuda:"))
    return open_cuda(cuda_index(name));
  unknown(name);
}

}  // namespace

std::unique_ptr<tensor::Device> open_device(std::string_view name,
                                            tensor::Precision weights) {
  auto device = open_any(name, weights);
  if (weights != tensor::Precision::kFloat32 &&
      !device->capabilities().bfloat16)
    throw Error{Code::kUsage,
                "device " + device->name() + " holds weights in float32 only"};
  return device;
}

std::vector<std::unique_ptr<tensor::Device>> open_lanes(
    std::string_view name, int threads, tensor::Precision weights) {
  require(threads > 0, "lanes without a thread");
  std::vector<std::unique_ptr<tensor::Device>> lanes;
  lanes.push_back(open_device(name, weights));
  const bool one_lane = lanes[0]->capabilities().one_lane;
  while (!one_lane && static_cast<int>(lanes.size()) < threads)
    lanes.push_back(open_device(lanes[0]->name(), weights));
  return lanes;
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> lines;
  const std::string cuda = cuda_version();
  if (!cuda.empty()) lines.push_back("cuda (" + cuda + ")");
  lines.push_back("cpu (" + cpu_libraries() +
                  "; weights in float32 or bfloat16)");
  lines.push_back("reference (float64)");
  return lines;
}

}  // namespace dl::device
