// Finds the cuda device, which lives in a shared object of its own,
// libdl_cuda.so beside the program: so that nothing else links CUDA, and one
// build runs on hosts with and without a GPU.
//
// The object exports, with C linkage,
//   dl::tensor::Device* dl_cuda_open(int index);  // throws dl::Error
//   const char* dl_cuda_version();                // "cuDNN 8.9, cuBLAS 12.3"

#ifndef DL_LIBCORE_DEVICE_CUDA_PLUGIN_H_
#define DL_LIBCORE_DEVICE_CUDA_PLUGIN_H_

#include <memory>
#include <string>

#include "libcore/tensor/device.h"

namespace dl::device {

// A new stream on GPU `index`.
// Throws Error: kUnavailable, the object cannot be loaded, or has no such GPU.
std::unique_ptr<tensor::Device> open_cuda(int index);

// Versions of the libraries behind it; "" without the object.
std::string cuda_version();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CUDA_PLUGIN_H_
