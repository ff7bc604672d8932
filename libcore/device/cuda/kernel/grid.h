// Kernels of our own: functions of one element or of one block of threads, that
// a grid calls.  nvcc compiles them for the GPU; any other compiler makes
// functions of the host of them, which tests run block by block
// (tests/unit/device/emulated).
//
//   each(stream, n, [=] DL_DEVICE(std::int64_t i) { y[i] += a * x[i]; });
//
// A kernel takes what it needs by value: pointers into the device's memory and
// numbers, never views or references.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_GRID_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_GRID_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "libcore/device/cuda/runtime/stream.h"

#if defined(__CUDACC__)
#define DL_DEVICE __device__
#define DL_BOTH __host__ __device__
// Unrolls a loop over arrays that are to be in registers.
#define DL_UNROLL _Pragma("unroll")
#define DL_PRAGMA(text) _Pragma(#text)
#define DL_UNROLL_BY(n) DL_PRAGMA(unroll(n))
#else
#define DL_DEVICE
#define DL_BOTH
#define DL_UNROLL
#define DL_UNROLL_BY(n)
#endif

namespace dl::device::cuda {

// One thread's view of its block.
struct Block {
  std::int64_t index, count;  // of the block, and of blocks
  unsigned thread, threads;   // of the thread, and in each block: a power of 2
  std::byte* shared;          // of the block
  void* fiber = nullptr;      // of the host's

  // No thread goes on before all of the block are here.  Kernels that have no
  // shared memory do not call it.
  DL_DEVICE void sync() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#elif !defined(__CUDACC__)
    wait_for_block(fiber);
#endif
  }
};

constexpr unsigned kThreads = 256;

// Blocks of which 132 multiprocessors have two each; fewer of few threads.
inline std::int64_t busy_blocks(const Stream& stream) {
  return 264 * std::min(kThreads, stream.most_threads()) / kThreads;
}

#if defined(__CUDACC__)
template <class Kernel>
__global__ void run(Kernel kernel) {
  extern __shared__ __align__(16) std::byte shared[];
  kernel(Block{blockIdx.x, gridDim.x, threadIdx.x, blockDim.x, shared});
}
// Kernel with blocks of kThreads, with so few registers that a multiprocessor
// has room for Kernel::kTogether blocks. The kernel may have arrays: they are
// not copied.
template <class Kernel>
__global__ void __launch_bounds__(kThreads, Kernel::kTogether)
    run_together(const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(16) std::byte shared[];
  kernel(Block{blockIdx.x, gridDim.x, threadIdx.x, blockDim.x, shared});
}
#else
// Returns the kernel's size, which CUDA knows; does nothing without one.
template <class Kernel>
std::size_t run(const Block& block, const void* kernel) {
  if (kernel != nullptr) (*static_cast<const Kernel*>(kernel))(block);
  return sizeof(Kernel);
}
template <class Kernel>
std::size_t run_together(const Block& block, const void* kernel) {
  return run<Kernel>(block, kernel);
}
#endif

// Calls kernel(block) in every thread of `count` blocks.  threads: a power of
// 2, of which there may be fewer in a test.  shared: bytes for each thread.
template <class Kernel>
void blocks(Stream& stream, std::int64_t count, unsigned threads,
            std::size_t shared, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && alignof(Kernel) <= 16);
  if (count == 0) return;
  threads = std::min(threads, stream.most_threads());
  stream.launch(reinterpret_cast<const void*>(&run<Kernel>), count, threads,
                shared * threads, &kernel, sizeof kernel);
}

// The same where a kernel needs all of kThreads, in tests too.  shared: bytes.
template <class Kernel>
void whole_blocks(Stream& stream, std::int64_t count, std::size_t shared,
                  const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && alignof(Kernel) <= 16);
  if (count == 0) return;
  const auto function = &run_together<Kernel>;
  stream.launch(reinterpret_cast<const void*>(function), count, kThreads,
                shared, &kernel, sizeof kernel);
}

template <class Kernel>
struct Each {
  Kernel kernel;
  std::int64_t n;
  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t i = b.index * b.threads + b.thread;
    if (i < n) kernel(i);
  }
};

// Calls kernel(i) for i in 0..n-1, in no order.
template <class Kernel>
void each(Stream& stream, std::int64_t n, const Kernel& kernel) {
  const std::int64_t threads = std::min(kThreads, stream.most_threads());
  blocks(stream, (n + threads - 1) / threads, kThreads, 0,
         Each<Kernel>{kernel, n});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_GRID_H_
