// Loading of CUDA's libraries.

#include "libcore/device/cuda/runtime/api.h"

namespace dl::device::cuda {
namespace {

cudaError_t last_captured(cudaStream_t stream, cudaStreamCaptureStatus* status,
                          const cudaGraphNode_t** nodes, std::size_t* count) {
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData* edges = nullptr;  // refuses to leave them out
  return ::cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nodes,
                                    &edges, count);
#else
  return ::cudaStreamGetCaptureInfo_v2(stream, status, nullptr, nullptr, nodes,
                                       count);
#endif
}

}  // namespace

const Api& plugin_api() {
#define DL_CUDA_MEMBER(f) &::f,
  static const Api api{
      ::cudaMalloc, ::cudaHostAlloc, ::cudaLaunchKernel, last_captured,
      DL_CUDA_FUNCTIONS(DL_CUDA_MEMBER) DL_NCCL_FUNCTIONS(DL_CUDA_MEMBER)};
#undef DL_CUDA_MEMBER
  return api;
}

}  // namespace dl::device::cuda
