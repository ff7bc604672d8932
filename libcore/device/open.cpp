// Devices by name.

#include "libcore/device/open.h"

#include <charconv>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cuda_plugin.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::Precision;

struct Named {
  Precision precision;
  std::string_view name;
};
constexpr Named kPrecisions[] = {{Precision::kFloat32, "float32"},
                                 {Precision::kTf32, "tf32"},
                                 {Precision::kBfloat16, "bfloat16"}};

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

std::unique_ptr<tensor::Device> open_auto(Precision precision) {
  try {
    return open_cuda(0, precision);
  } catch (const Error& e) {
    if (e.code() != Code::kUnavailable) throw;
    return std::make_unique<CpuDevice>(precision);
  }
}

std::unique_ptr<tensor::Device> open_any(std::string_view name,
                                         Precision precision) {
  if (name == "auto") return open_auto(precision);
  if (name == "cpu") return std::make_unique<CpuDevice>(precision);
  if (name == "reference") return std::make_unique<ReferenceDevice>();
  if (name == "cuda" || name.starts_with("cuda:"))
    return open_cuda(cuda_index(name), precision);
  unknown(name);
}

// "float32 or bfloat16"
std::string list_of(tensor::Precisions precisions) {
  std::string list;
  for (const Named& one : kPrecisions)
    if (precisions.has(one.precision))
      list += (list.empty() ? "" : " or ") + std::string(one.name);
  return list;
}

}  // namespace

tensor::Precision precision_of(std::string_view name) {
  for (const Named& one : kPrecisions)
    if (one.name == name) return one.precision;
  throw Error{
      Code::kUsage,
      "--precision: want float32, tf32 or bfloat16, got " + in_quotes(name)};
}

std::string_view name_of(tensor::Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)].name;
}

std::unique_ptr<tensor::Device> open_device(std::string_view name,
                                            tensor::Precision precision,
                                            Use use) {
  auto device = open_any(name, precision);
  const bool trains = use == Use::kTraining;
  const tensor::Capabilities can = device->capabilities();
  const tensor::Precisions has = trains ? can.training : can.prediction;
  if (has.has(precision)) return device;
  throw Error{Code::kUsage, "--precision: device " + device->name() +
                                (trains ? " trains in " : " predicts in ") +
                                list_of(has) + ", not in " +
                                std::string(name_of(precision))};
}

std::vector<std::unique_ptr<tensor::Device>> open_lanes(
    std::string_view name, int threads, tensor::Precision precision, Use use) {
  require(threads > 0, "lanes without a thread");
  std::vector<std::unique_ptr<tensor::Device>> lanes;
  lanes.push_back(open_device(name, precision, use));
  const bool one_lane = lanes[0]->capabilities().one_lane;
  while (!one_lane && static_cast<int>(lanes.size()) < threads)
    lanes.push_back(open_device(lanes[0]->name(), precision, use));
  return lanes;
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> lines;
  const std::string cuda = cuda_version();
  if (!cuda.empty())
    lines.push_back("cuda (" + cuda + "; float32, tf32 or bfloat16)");
  lines.push_back("cpu (" + cpu_libraries() +
                  "; float32, predictions also with weights in bfloat16)");
  lines.push_back("reference (float64)");
  return lines;
}

}  // namespace dl::device
