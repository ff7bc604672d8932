// CUDA, cuBLASLt, cuDNN and NCCL as the cuda device uses them, on the host:
// memory is the host's, kernels are run thread by thread, and the libraries'
// calls compute what their descriptors say, naively.  Calls that they would
// refuse are refused.  One source file a library.  There are as many GPUs as
// DL_EMULATED_GPUS in the environment says; 1 if it is not set, and below 0
// they are not ready.  The GPU that DL_EMULATED_FAULT names has failed, which
// only those hear that wait for it.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_EMULATED_API_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_EMULATED_API_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "libcore/device/cuda/runtime/api.h"

namespace dl::device::cuda {

// Calls may come from any thread, one after the other.
const Api& emulated_api();
std::recursive_mutex& lock_of_calls();
// Whether this thread is in one, but for NCCL's.
bool in_emulated_call();

// The GPU of this thread.
int current_gpu();

// Calls since the last take_calls(), by function; nothing is written down
// before the first.
std::vector<std::string> take_calls();
void note_call(const char* name);

// The next call of this function fails with this status.
void fail_next(const std::string& name, int status);
// The call after so many others fails, whatever it is: with status 2, which is
// CUDA's "out of memory".  Whether there was one; if not, none will.
void fail_call(std::size_t after);
bool take_failed_call();
// ... and whether this one is to: its status, or 0.
int failure_of(const char* name);

// Notes it, and says whether it goes wrong.
inline cudaError_t cuda_call(const char* name) {
  note_call(name);
  return static_cast<cudaError_t>(failure_of(name));
}

// Sets it for devices that are opened from now on: 75 is 7.5; 90 without.
void set_compute_capability(int tenfold);

// Bytes copied between the host and the GPU so far. For the plug-in, by
// dlsym(); any thread.
extern "C" std::size_t emulated_bus_bytes();

// Bytes allocated on all GPUs.
std::size_t emulated_gpu_bytes();

// While no stream has anything left to do: aborts if memory of the host was
// written to after it was freed.
void check_freed();

// All of these bytes are this thread's GPU's.
bool lies_on_gpu(const void* address, std::size_t bytes);
// Handles and descriptors that have not been destroyed.
std::size_t cublas_objects();

// Each library's part of the table.
void set_runtime(Api& api);
void set_cublas(Api& api);
void set_cudnn(Api& api);
void set_nccl(Api& api);

// Threads of an emulated block, so that a test of many blocks does not take for
// ever.
constexpr unsigned kEmulatedThreads = 8;

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_EMULATED_API_H_
