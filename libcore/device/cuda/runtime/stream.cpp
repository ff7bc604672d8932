// A CUDA stream: calls, memory, waiting.

#include "libcore/device/cuda/runtime/stream.h"

#include <algorithm>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/device/cuda_plugin.h"

namespace dl::device::cuda {
namespace {

[[noreturn]] void fail(int gpu, const std::string& why, const char* what) {
  throw Error{Code::kUnavailable,
              "cuda:" + std::to_string(gpu) + ": " + why + " (" + what + ")"};
}

constexpr int kLeastMajor = 7, kLeastMinor = 5;  // Turing

int attribute_of(const Api& api, int gpu, cudaDeviceAttr attribute) {
  int value = 0;
  check(api, gpu, api.cudaDeviceGetAttribute(&value, attribute, gpu),
        "asking what the GPU can");
  return value;
}

// There is no code of ours for a GPU before that, which the libraries alone
// might do with until the first kernel.
int compute_capability_of(const Api& api, int gpu) {
  const int major = attribute_of(api, gpu, cudaDevAttrComputeCapabilityMajor),
            minor = attribute_of(api, gpu, cudaDevAttrComputeCapabilityMinor);
  if (std::pair(major, minor) < std::pair(kLeastMajor, kLeastMinor))
    fail(gpu,
         "the GPU is too old: its compute capability is " +
             std::to_string(major) + "." + std::to_string(minor) + ", " +
             std::to_string(kLeastMajor) + "." + std::to_string(kLeastMinor) +
             " the least",
         "asking what the GPU can");
  return major;
}

// CUDA keeps it by thread.
thread_local int gpu_in_use = -1;

void choose_gpu(const Api& api, int gpu) {
  gpu_in_use = -1;
  check(api, gpu, api.cudaSetDevice(gpu), "choosing the GPU");
  gpu_in_use = gpu;
}

cudaStream_t make_stream(const Api& api, int gpu) {
  choose_gpu(api, gpu);
  cudaStream_t made = nullptr;
  check(api, gpu, api.cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking),
        "making a stream");
  return made;
}

}  // namespace

void check(const Api& api, int gpu, cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    if (api.cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
      throw no_gpu(kNoDriver);
    fail(gpu,
         "the driver is older than this program's CUDA; install a newer one",
         what);
  }
  if (status == cudaErrorNoDevice) throw no_gpu(kNoGpu);
  if (status == cudaErrorInvalidDevice) fail(gpu, "there is no such GPU", what);
  fail(gpu, api.cudaGetErrorString(status), what);
}

void check(int gpu, cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(gpu, "cuBLAS status " + std::to_string(static_cast<int>(status)), what);
}

void check(const Api& api, int gpu, cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  fail(gpu, api.cudnnGetErrorString(status), what);
}

void check(const Api& api, int gpu, ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  fail(gpu, std::string("NCCL: ") + api.ncclGetErrorString(status), what);
}

Stream::Stream(const Api& api, int gpu, unsigned most_threads)
    : api_(&api),
      gpu_(gpu),
      most_threads_(most_threads),
      handle_(make_stream(api, gpu)),
      steps_(api, gpu, handle_) {
  compute_capability_ = compute_capability_of(api, gpu);
  scratch_bytes(kScratchBytes);
}

Stream::~Stream() {
  api_->cudaStreamSynchronize(handle_);
  api_->cudaFree(scratch_);
  api_->cudaStreamDestroy(handle_);
}

void Stream::use_gpu() {
  if (gpu_in_use != gpu_) choose_gpu(*api_, gpu_);
}

std::byte* Stream::allocate(std::size_t bytes) {
  use_gpu();
  steps_.make_now();
  void* memory = nullptr;
  const cudaError_t status =
      api_->cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation)
    throw Error{Code::kUnavailable, name() + ": not enough memory for " +
                                        std::to_string(bytes) +
                                        " bytes more; try a smaller --batch"};
  check(*api_, gpu_, status, "allocating memory");
  return static_cast<std::byte*>(memory);
}

// Clearing it is no part of a step.
std::byte* Stream::allocate_zeros(std::size_t bytes) {
  std::byte* const memory = allocate(bytes);
  const cudaError_t status = api_->cudaMemsetAsync(memory, 0, bytes, handle_);
  if (status != cudaSuccess) free(memory);
  check(*api_, gpu_, status, "clearing memory");
  return memory;
}

// Pending work of the stream on this memory comes first: cudaFree() waits.
void Stream::free(std::byte* memory) noexcept {
  if (memory == nullptr) return;
  steps_.make_now_quietly();
  api_->cudaFree(memory);
}

void Stream::launch(const void* kernel, std::int64_t blocks, unsigned threads,
                    std::size_t shared, const void* argument,
                    std::size_t argument_bytes) {
  require(blocks <= std::numeric_limits<int>::max(), "a grid too large");
  use_gpu();
  steps_.kernel(kernel, static_cast<unsigned>(blocks), threads, shared,
                argument, argument_bytes);
}

void Stream::copy(void* to, const void* from, std::size_t bytes,
                  cudaMemcpyKind kind) {
  if (bytes == 0) return;
  use_gpu();
  steps_.copy(to, from, bytes, kind);
}

void Stream::clear(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  use_gpu();
  steps_.clear(memory, bytes);
}

void Stream::wait() {
  use_gpu();
  steps_.make_now_for_good();
  synchronize();
}

void Stream::look() {
  use_gpu();
  const cudaError_t status = api_->cudaStreamQuery(handle_);
  if (status != cudaErrorNotReady) check(*api_, gpu_, status, "computing");
}

void Stream::wait_for(cudaEvent_t event) {
  use_gpu();
  steps_.make_now_if_awaited(event);
  check(*api_, gpu_, api_->cudaEventSynchronize(event), "computing");
}

// Postponed calls come after it, too, as they are made later.
void Stream::after(cudaEvent_t event) {
  use_gpu();
  check(*api_, gpu_, api_->cudaStreamWaitEvent(handle_, event, 0),
        "waiting for a copy");
}

cudaStream_t Stream::make_another() { return make_stream(*api_, gpu_); }

void Stream::begin_step(std::uint64_t key) {
  use_gpu();
  steps_.begin(key);
  ++turn_;
}

void Stream::synchronize() {
  check(*api_, gpu_, api_->cudaStreamSynchronize(handle_), "computing");
}

std::byte* Stream::scratch_bytes(std::size_t bytes) {
  if (bytes <= scratch_size_) return scratch_;
  steps_.make_now();
  synchronize();
  free(scratch_);
  scratch_ = nullptr;
  scratch_size_ = 0;
  scratch_ = allocate(bytes);
  scratch_size_ = bytes;
  return scratch_;
}

}  // namespace dl::device::cuda
