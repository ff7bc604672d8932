// Devices by name.

#include "libcore/device/open.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cuda_plugin.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

struct Named {
  Precision precision;
  std::string_view name;
};
constexpr Named kPrecisions[] = {{Precision::kFloat32, "float32"},
                                 {Precision::kTf32, "tf32"},
                                 {Precision::kBfloat16, "bfloat16"}};

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
  const Gpus found = count_gpus();
  if (found.count == 0)
    throw found.broken ? Error{Code::kUnavailable, found.why_none}
                       : no_gpu(found.why_none);
  std::vector<int> gpus(static_cast<std::size_t>(found.count));
  std::iota(gpus.begin(), gpus.end(), 0);
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

std::unique_ptr<Device> open_one(std::string_view name, Precision precision) {
  const std::vector<int> gpus = gpus_of(name);
  if (gpus.size() != 1)
    throw Error{Code::kUsage, "'" + std::string(name) +
                                  "' is several devices, where one is wanted"};
  return open_cuda(gpus[0], precision);
}

std::unique_ptr<Device> open_any(std::string_view name, Precision precision) {
  if (name == "auto") return open_any(choose_device().name, precision);
  if (name == "cpu") return std::make_unique<CpuDevice>(precision);
  if (name == "reference") return std::make_unique<ReferenceDevice>();
  if (is_cuda(name)) return open_one(name, precision);
  unknown(name);
}

// "float32 or bfloat16"
std::string list_of(Precisions precisions, const Device& device) {
  std::string list;
  for (const Named& one : kPrecisions)
    if (precisions.has(one.precision))
      list += (list.empty() ? "" : " or ") +
              std::string(name_of(one.precision, device));
  return list;
}

}  // namespace

Precision precision_of(std::string_view name) {
  for (const Named& one : kPrecisions)
    if (one.name == name) return one.precision;
  throw Error{
      Code::kUsage,
      "--precision: want float32, tf32 or bfloat16, got " + in_quotes(name)};
}

std::string_view name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)].name;
}

std::string_view name_of(Precision precision, const Device& device) {
  return device.real() == tensor::DType::kF64 ? "float64" : name_of(precision);
}

Choice choose_device() {
  const Gpus gpus = count_gpus();
  if (gpus.count > 0) return {.name = "cuda", .why = {}};
  return {.name = "cpu", .why = gpus.why_none, .broken = gpus.broken};
}

std::unique_ptr<Device> open_device(std::string_view name, Precision precision,
                                    Use use) {
  auto device = open_any(name, precision);
  const bool trains = use == Use::kTraining;
  const Capabilities can = device->capabilities();
  const Precisions has = trains ? can.training : can.prediction;
  if (has.has(precision)) return device;
  throw Error{Code::kUsage, "--precision: device " + device->name() +
                                (trains ? " trains in " : " predicts in ") +
                                list_of(has, *device) + ", not in " +
                                std::string(name_of(precision))};
}

std::vector<std::unique_ptr<Device>> open_lanes(std::string_view name,
                                                int threads,
                                                Precision precision, Use use) {
  require(threads > 0, "lanes without a thread");
  std::vector<std::unique_ptr<Device>> lanes;
  if (is_cuda(name)) {
    for (const int gpu : gpus_of(name))
      lanes.push_back(
          open_device("cuda:" + std::to_string(gpu), precision, use));
    return lanes;
  }
  lanes.push_back(open_device(name, precision, use));
  const bool one_lane = lanes[0]->capabilities().one_lane;
  while (!one_lane && static_cast<int>(lanes.size()) < threads)
    lanes.push_back(open_device(lanes[0]->name(), precision, use));
  return lanes;
}

void check_device_name(std::string_view name) {
  if (name == "auto" || name == "cpu" || name == "reference") return;
  if (!is_cuda(name)) unknown(name);
  if (name != "cuda:all") (void)gpus_of(name);
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> lines;
  const CudaVersion cuda = cuda_version();
  if (!cuda.text.empty())
    lines.push_back("cuda (" + cuda.text + "; float32, tf32 or bfloat16)");
  else if (!cuda.why_none.empty())
    lines.push_back("cuda (not usable: " + cuda.why_none + ")");
  lines.push_back("cpu (" + cpu_libraries() +
                  "; float32, predictions also with weights in bfloat16)");
  lines.push_back("reference (float64)");
  return lines;
}

}  // namespace dl::device
