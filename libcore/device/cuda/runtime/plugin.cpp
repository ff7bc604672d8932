// The exports of libdl_cuda.so (cuda_plugin.h).

#include <string>

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"

namespace dl::device::cuda {
namespace {

std::string version_of(int number) {  // 13000: "13.0"
  return std::to_string(number / 1000) + "." +
         std::to_string(number % 1000 / 10);
}

std::string versions(const Api& api) {
  int runtime = 0;
  api.cudaRuntimeGetVersion(&runtime);
  const std::size_t dnn = api.cudnnGetVersion();  // 91200: 9.12.0
  const std::size_t blas = api.cublasLtGetVersion();
  int nccl = 0;
  api.ncclGetVersion(&nccl);  // 22703: 2.27.3
  const auto text = [](std::size_t number) { return std::to_string(number); };
  return "CUDA " + version_of(runtime) + ", cuDNN " + text(dnn / 10000) + "." +
         text(dnn / 100 % 100) + ", cuBLAS " + text(blas / 10000) + "." +
         text(blas / 100 % 100) + ", NCCL " + std::to_string(nccl / 10000) +
         "." + std::to_string(nccl / 100 % 100);
}

// A host may have what a driver is called through, and no driver.
bool lacks_driver(const Api& api) {
  int driver = 0;
  return api.cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0;
}

int count_gpus(const Api& api) {
  int count = 0;
  const cudaError_t status = api.cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice ||
      (status != cudaSuccess && lacks_driver(api)))
    return 0;
  check(api, 0, status, "counting the GPUs");
  return count;
}

}  // namespace
}  // namespace dl::device::cuda

using dl::device::cuda::CudaDevice;
using dl::device::cuda::plugin_api;

extern "C" {

const char* dl_cuda_abi() { return DL_DEVICE_ABI; }

const char* dl_cuda_version() {
  static const std::string text = dl::device::cuda::versions(plugin_api());
  return text.c_str();
}

int dl_cuda_count() { return dl::device::cuda::count_gpus(plugin_api()); }

dl::device::Device* dl_cuda_open(int index, dl::device::Precision precision) {
  return new CudaDevice(plugin_api(), index, precision);
}
}
