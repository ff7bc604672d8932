// The calls that the emulated GPU got.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_CALLS_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_CALLS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::cuda {

struct Counts {
  std::vector<std::string> calls;
  std::ptrdiff_t of(const char* name) const {
    return std::ranges::count(calls, name);
  }
};
template <class F>
Counts calls_in(F f) {
  take_calls();
  f();
  return {take_calls()};
}

// Launches the graph, and asks for nothing that takes long.
inline bool is_one_launch(const Counts& counts) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
        "cublasLtMatmul", "cudnnBackendExecute", "cudaMalloc", "cudaFree",
        "cudaHostAlloc", "cudaStreamSynchronize", "cudaStreamBeginCapture"})
    if (counts.of(name) != 0) return false;
  return counts.of("cudaGraphLaunch") == 1;
}

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_CALLS_H_
