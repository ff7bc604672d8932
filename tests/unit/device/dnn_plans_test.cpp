// The answers of cuDNN itself on the convolutions that it is asked for, on GPUs
// that need not be there: it plans for properties of a device that are written
// down. All but planning is emulated.

#ifdef DL_EMULATED

#include <cudnn.h>
#if CUDNN_VERSION >= 91100

#include <algorithm>
#include <string>

#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/convolutions.h"
#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::dnn_plans_test {

using namespace dl::device::test;
using namespace dl::device::cuda;
using dl::device::Conv2dSpec;
using dl::device::Conv3dSpec;

namespace {

struct Gpu {
  const char* name;
  int version, processors, shared;
};
constexpr Gpu kGpus[] = {{"NVIDIA A100-SXM4-80GB", 800, 108, 166912},
                         {"NVIDIA H100 80GB HBM3", 900, 132, 232448},
                         {"NVIDIA B200", 1000, 148, 232448}};

std::string properties_of(const Gpu& gpu) {
  return R"({"deviceName": ")" + std::string(gpu.name) + R"(", "deviceVer": )" +
         std::to_string(gpu.version) + R"(, "multiProcessorCount": )" +
         std::to_string(gpu.processors) +
         R"(, "maxSharedMemoryPerBlockOptin": )" + std::to_string(gpu.shared) +
         R"(, "cudaDeviceId": 0, "driverVer": 13000, "warpSize": 32,
            "maxGridSize": [2147483647, 65535, 65535],
            "maxBlockSize": [1024, 1024, 64], "maxThreadsPerBlock": 1024,
            "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, "regsPerBlock": 65536,
            "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
            "reservedSharedMemoryPerBlock": 1024,
            "totalGlobalMem": 80000000000, "l2CacheSize": 41943040,
            "smClockRateKHz": 1410000, "memClockRateKHz": 1593000,
            "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1})";
}

// In place of a handle, which stands for a GPU.
cudnnBackendDescriptor_t device = nullptr;
std::int64_t executed = 0;

cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type,
                            std::int64_t count, const void* values) {
  const auto plan_for_it = [&](cudnnBackendAttributeName_t property) {
    return ::cudnnBackendSetAttribute(
        descriptor, property, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device);
  };
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
    return plan_for_it(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  if (name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)
    if (const auto failed = plan_for_it(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP))
      return failed;
  return ::cudnnBackendSetAttribute(descriptor, name, type, count, values);
}

Api planning_api() {
  Api api = emulated_api();
  api.cudnnGetErrorString = ::cudnnGetErrorString;
  api.cudnnBackendCreateDescriptor = ::cudnnBackendCreateDescriptor;
  api.cudnnBackendDestroyDescriptor = ::cudnnBackendDestroyDescriptor;
  api.cudnnBackendSetAttribute = set_attribute;
  api.cudnnBackendGetAttribute = ::cudnnBackendGetAttribute;
  api.cudnnBackendFinalize = ::cudnnBackendFinalize;
  api.cudnnBackendExecute = [](auto...) {
    ++executed;
    return CUDNN_STATUS_SUCCESS;
  };
  return api;
}

// False: this cuDNN plans for no GPU but its own.
bool choose(const Gpu& gpu) {
  if (::cudnnGetVersion() < 91100) return false;
  const std::string text = properties_of(gpu);
  cudnnBackendDescriptor_t made = nullptr;
  const bool done =
      ::cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                     &made) == CUDNN_STATUS_SUCCESS &&
      ::cudnnBackendSetAttribute(
          made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
          static_cast<std::int64_t>(text.size()),
          text.data()) == CUDNN_STATUS_SUCCESS &&
      ::cudnnBackendFinalize(made) == CUDNN_STATUS_SUCCESS;
  device = made;
  return done;
}

constexpr Conv2dSpec kImages[] = {
    {.height = 28, .width = 28, .channels = 1, .filters = 20, .kernel = {5, 5}},
    {.height = 32,
     .width = 32,
     .channels = 3,
     .filters = 64,
     .kernel = {7, 7},
     .stride = {2, 2},
     .pad_begin = {3, 3},
     .pad_end = {3, 3}},
    {.height = 14,
     .width = 14,
     .channels = 64,
     .filters = 128,
     .kernel = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.height = 14,
     .width = 14,
     .channels = 32,
     .filters = 32,
     .kernel = {3, 3},
     .dilation = {2, 2},
     .groups = 4},
    {.height = 14,
     .width = 14,
     .channels = 32,
     .filters = 32,
     .kernel = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1},
     .groups = 32}};
constexpr Conv3dSpec kVolumes{.depth = 8,
                              .height = 8,
                              .width = 8,
                              .channels = 8,
                              .filters = 12,
                              .kernel = {3, 3, 3}};

}  // namespace

TEST_CASE("cuDNN has plans for convolutions with tensor cores") {
  if (std::string_view(tested()) != "emulated") return;
  static const Api api = planning_api();
  for (const Gpu& gpu : kGpus) {
    if (!choose(gpu)) {
      WARN("this cuDNN plans for no GPU but its own");
      return;
    }
    for (const Precision precision : {Precision::kTf32, Precision::kBfloat16}) {
      CudaDevice d(api, 0, precision, kEmulatedThreads);
      const auto check = [&](dl::device::Conv2d& conv, const Shape& x_shape,
                             const Shape& w_shape, const Shape& y_shape) {
        CAPTURE(gpu.name, static_cast<int>(precision), w_shape.to_string());
        const auto x = d.allocate(x_shape, d.activations()),
                   w = d.allocate(w_shape),
                   y = d.allocate(y_shape, d.activations()),
                   b = d.allocate(Shape{w_shape[0]});
        const auto forward = [&] {
          conv.forward_activated(y->view(), x->view(), w->view(), b->view(),
                                 {dl::device::Activation::kRelu});
        };
        d.fill(y->view(), kNan);  // as an engine would that keeps it
        CHECK_NOTHROW(forward());
        executed = 0;
        take_calls();
        CHECK_NOTHROW(forward());
        CHECK_NOTHROW(conv.backward_data(x->view(), y->view(), w->view()));
        CHECK_NOTHROW(
            conv.backward_weights(w->view(), {}, x->view(), y->view()));
        // Weights and the bias are cast, and the gradient of weights is back.
        const bool cast = precision == Precision::kBfloat16;
        // It is slow with gradients of weights of few channels in TF32.
        const bool own = !cast && x_shape.back() <= 3;
        CHECK(executed == (own ? 2 : 3));
        CHECK(std::ranges::count(take_calls(), "cudaLaunchKernel") ==
              (cast  ? 4
               : own ? 2
                     : 0));
      };
      for (const Conv2dSpec& s : kImages)
        check(*d.conv2d(s, 8), x_shape(s, 8), w_shape(s),
              {8, s.out_height(), s.out_width(), s.filters});
      check(*d.conv3d(kVolumes, 8), {8, 8, 8, 8, 8}, {12, 3, 3, 3, 8},
            {8, 6, 6, 6, 12});
    }
    ::cudnnBackendDestroyDescriptor(device);
  }
}

#endif  // CUDNN_VERSION
#endif  // DL_EMULATED

}  // namespace dl::device::dnn_plans_test
