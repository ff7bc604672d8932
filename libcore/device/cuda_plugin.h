// Finds the cuda device, which lives in a shared object of its own,
// libdl_cuda.so beside the program: so that nothing else links CUDA, and one
// build runs on hosts with and without a GPU.
//
// DL_CUDA_PLUGIN in the environment names another, unless it is empty.
//
// The object exports, with C linkage,
//   const char* dl_cuda_abi();      // DL_DEVICE_ABI of what it was built with
//   const char* dl_cuda_version();  // "CUDA 13.0, cuDNN 9.12, ..."
//   int dl_cuda_count();            // GPUs that can be seen
//   dl::device::Device* dl_cuda_open(int index, Precision precision);
// The last two throw dl::Error: kUnavailable.

#ifndef DL_LIBCORE_DEVICE_CUDA_PLUGIN_H_
#define DL_LIBCORE_DEVICE_CUDA_PLUGIN_H_

#include <memory>
#include <string>

#include "libcore/base/error.h"
#include "libcore/device/api/device.h"
#include "libcore/device/api/precision.h"

namespace dl::device {

inline constexpr const char* kNoDriver = "there is no driver of NVIDIA's";
inline constexpr const char* kNoGpu = "there is no GPU";

// Error if a GPU was asked for by name and, for one of these reasons, there is
// none.
inline Error no_gpu(const std::string& why) {
  return {Code::kUnavailable,
          "no cuda device: " + why + "; --device cpu or auto computes without"};
}

// A new stream on GPU `index`, whose products are of this precision, if its
// capabilities() have it.
// Throws Error: kUnavailable, the object cannot be loaded or is of another
// build, or there is no such GPU.
std::unique_ptr<Device> open_cuda(int index, Precision precision);

// Versions of the libraries behind the object, or why it cannot be loaded;
// neither where there is none.
struct CudaVersion {
  std::string text = {}, why_none = {};
};
CudaVersion cuda_version();

// GPUs that this process can see.
struct Gpus {
  int count = 0;
  std::string why_none = {};  // kNoDriver
  bool broken = false;        // there may be some, which cannot be used
};

// Loads CUDA's libraries only where there is a driver.  From then on the
// process must not be divided by fork(2).
Gpus count_gpus();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CUDA_PLUGIN_H_
