// Devices by name.

#include "libcore/device/open.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cuda_plugin.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

constexpr int kMaxCuda = 1023;

[[noreturn]] void unknown(std::string_view name) {
  throw Error{Code::kUsage,
              "unknown device '" + std::string(name) +
                  "': want auto, cpu, cuda, cuda:N, cuda:N,M, cuda:all or "
                  "reference"};
}

bool is_cuda(std::string_view name) {
  return name == "cuda" || name.starts_with("cuda:");
}

std::vector<int> all_gpus() {
  std::vector<int> gpus(static_cast<std::size_t>(cuda_count()));
  std::iota(gpus.begin(), gpus.end(), 0);
  if (gpus.empty())
    throw Error{Code::kUnavailable, "no cuda device: there is no GPU"};
  return gpus;
}

// The N of "cuda:N", or those of "cuda:N,M"; 0 for "cuda".
std::vector<int> gpus_of(std::string_view name) {
  if (name == "cuda") return {0};
  if (name == "cuda:all") return all_gpus();
  std::string_view rest = name.substr(std::string_view("cuda:").size());
  std::vector<int> gpus;
  for (;;) {
    int gpu = -1;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), gpu);
    if (error != std::errc() || gpu < 0 || gpu > kMaxCuda ||
        std::ranges::count(gpus, gpu) > 0)
      unknown(name);
    gpus.push_back(gpu);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) return gpus;
    if (!rest.starts_with(',')) unknown(name);
    rest.remove_prefix(1);
  }
}

std::unique_ptr<tensor::Device> open_one(std::string_view name) {
  const std::vector<int> gpus = gpus_of(name);
  if (gpus.size() != 1)
    throw Error{Code::kUsage, "'" + std::string(name) +
                                  "' is several devices, where one is wanted"};
  return open_cuda(gpus[0]);
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
  if (is_cuda(name)) return open_one(name);
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
  if (is_cuda(name)) {
    for (const int gpu : gpus_of(name))
      lanes.push_back(open_device("cuda:" + std::to_string(gpu), weights));
    return lanes;
  }
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
