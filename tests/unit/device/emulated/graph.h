// Work of the emulated GPU, and graphs of it.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_GRAPH_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_GRAPH_H_

#include <cstddef>
#include <functional>
#include <variant>
#include <vector>

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

// Work for later; a kernel's argument is copied.
class KeptWork {
 public:
  explicit KeptWork(const Work& work);
  const Work& work() const { return work_; }
  void perform() const;

 private:
  Work work_;  // its argument is not to be looked at
  std::vector<std::byte> argument_;
};

// Whether what this thread puts on the stream is captured.
bool captures(cudaStream_t stream);
// Fails in a capture that is spoilt.
cudaError_t capture(const Work& work);
// Spoils a capture of this thread; fine without one.
cudaError_t illegal_in_capture();

void set_graph(Api& api);
// Graphs that have not been destroyed.
std::size_t graph_objects();

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_GRAPH_H_
