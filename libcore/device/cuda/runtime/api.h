// Everything of CUDA, cuBLAS, cuDNN and NCCL that the cuda device calls, as one
// table of functions: the libraries' own (library_api.cpp), or a test's, which
// computes on the host and writes down what was asked of it.

#ifndef DL_LIBCORE_DEVICE_CUDA_RUNTIME_API_H_
#define DL_LIBCORE_DEVICE_CUDA_RUNTIME_API_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include <cstddef>

namespace dl::device::cuda {

// clang-format off
#define DL_CUDA_FUNCTIONS(X)                                                   \
  X(cudaGetDeviceCount) X(cudaSetDevice) X(cudaDeviceGetAttribute)             \
  X(cudaRuntimeGetVersion) X(cudaDriverGetVersion)                             \
  X(cudaGetErrorString) X(cudaFree) X(cudaFreeHost)                            \
  X(cudaMemcpyAsync) X(cudaMemsetAsync)                                        \
  X(cudaStreamCreateWithFlags) X(cudaStreamDestroy) X(cudaStreamQuery)         \
  X(cudaStreamSynchronize) X(cudaEventCreateWithFlags) X(cudaEventDestroy) X(cudaEventRecord)           \
  X(cudaEventSynchronize) X(cudaStreamWaitEvent) X(cudaGetLastError)           \
  X(cudaStreamBeginCapture) X(cudaStreamEndCapture)                            \
  X(cudaGraphInstantiateWithFlags) X(cudaGraphLaunch)                          \
  X(cudaGraphExecKernelNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D)    \
  X(cudaGraphExecDestroy) X(cudaGraphDestroy)                                  \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetVersion)                   \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)                     \
  X(cublasLtMatmulDescSetAttribute)                                            \
  X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                 \
  X(cublasLtMatrixLayoutSetAttribute)                                          \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)         \
  X(cublasLtMatmulPreferenceSetAttribute)                                      \
  X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)                          \
  X(cudnnGetVersion) X(cudnnGetErrorString) X(cudnnCreate) X(cudnnDestroy)     \
  X(cudnnSetStream) X(cudnnBackendCreateDescriptor)                            \
  X(cudnnBackendDestroyDescriptor) X(cudnnBackendSetAttribute)                 \
  X(cudnnBackendGetAttribute) X(cudnnBackendFinalize) X(cudnnBackendExecute)
// Functions that wait for other threads' calls.
#define DL_NCCL_FUNCTIONS(X)                                                   \
  X(ncclGetVersion) X(ncclGetErrorString)                                      \
  X(ncclCommInitAll) X(ncclCommDestroy) X(ncclCommAbort)                       \
  X(ncclAllReduce) X(ncclReduce) X(ncclBroadcast)
// clang-format on

struct Api {
  // nvcc has others of these names.
  cudaError_t (*cudaMalloc)(void** memory, std::size_t bytes);
  cudaError_t (*cudaHostAlloc)(void** memory, std::size_t bytes,
                               unsigned flags);
  cudaError_t (*cudaLaunchKernel)(const void* function, dim3 grid, dim3 block,
                                  void** arguments, std::size_t shared,
                                  cudaStream_t stream);
  // cudaStreamGetCaptureInfo, which each version has in a form of its own: what
  // the next call would come after.
  cudaError_t (*last_captured)(cudaStream_t stream,
                               cudaStreamCaptureStatus* status,
                               const cudaGraphNode_t** nodes,
                               std::size_t* count);
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define DL_CUDA_MEMBER(f) decltype(&::f) f;
  DL_CUDA_FUNCTIONS(DL_CUDA_MEMBER)
  DL_NCCL_FUNCTIONS(DL_CUDA_MEMBER)
#undef DL_CUDA_MEMBER
};

// The plug-in's: the libraries'.
const Api& plugin_api();

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RUNTIME_API_H_
