// What is put on the emulated stream: done at once or, while it is captured, by
// each launch of the graph.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_GRAPH_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_GRAPH_H_

#include <cstddef>
#include <functional>
#include <variant>

#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::cuda {

struct KernelWork {
  const void* function;
  dim3 grid, threads;
  std::size_t shared;
  const void* argument;
};
struct CopyWork {
  void* to;
  const void* from;
  std::size_t bytes;
  cudaMemcpyKind kind;
};
using Work = std::variant<KernelWork, CopyWork, std::function<void()>>;

// runtime.cpp: whether CUDA would take it, and what it does.
cudaError_t check(const KernelWork& work);
cudaError_t check(const CopyWork& work);
void perform(const KernelWork& work);
void perform(const CopyWork& work);
std::size_t argument_bytes(const KernelWork& work);

bool capturing();
// A kernel's argument is copied.  Fails in a capture that is spoilt.
cudaError_t capture(Work work);
// Spoils a capture; fine without one.
cudaError_t illegal_in_capture();

template <class W>
cudaError_t perform_or_capture(const W& work) {
  if (capturing()) return capture(work);
  if constexpr (std::is_invocable_v<W>)
    work();
  else
    perform(work);
  return cudaSuccess;
}

void set_graph(Api& api);
// Graphs that have not been destroyed.
std::size_t graph_objects();

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_GRAPH_H_
