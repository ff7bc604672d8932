// One stream of a GPU: what is called takes effect in order.  Within a step
// (device/api/device.h, begin_step()) all goes through it, so that it can be
// put off.

#ifndef DL_LIBCORE_DEVICE_CUDA_RUNTIME_STREAM_H_
#define DL_LIBCORE_DEVICE_CUDA_RUNTIME_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "libcore/device/cuda/runtime/api.h"
#include "libcore/device/cuda/runtime/step_graph.h"

namespace dl::device::cuda {

// Throw Error{kUnavailable} unless it went well: "cuda:0: out of memory for
// 1024 bytes" and the like, whose last part says what was tried.
void check(const Api& api, int gpu, cudaError_t status, const char* what);
void check(int gpu, cublasStatus_t status, const char* what);
void check(const Api& api, int gpu, cudnnStatus_t status, const char* what);
void check(const Api& api, int gpu, ncclResult_t status, const char* what);

// Used by one thread at a time.
class Stream {
 public:
  // most_threads: a block's; fewer in tests.
  // Throws Error: kUnavailable, there is no such GPU.
  Stream(const Api& api, int gpu, unsigned most_threads);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const Api& api() const { return *api_; }
  int gpu() const { return gpu_; }
  // Directs the next calls of the calling thread to this GPU. So are the calls
  // below; for what goes past them.
  void use_gpu();
  // The same, with what was put off made; or within call().
  cudaStream_t handle() {
    use_gpu();
    steps_.make_now();
    return handle_;
  }
  // The first number of "8.6".
  int compute_capability() const { return compute_capability_; }
  unsigned most_threads() const { return most_threads_; }
  std::string name() const { return "cuda:" + std::to_string(gpu_); }

  // Memory of the GPU, of any content.  Throws Error: kUnavailable, there is
  // not so much.
  std::byte* allocate(std::size_t bytes);
  std::byte* allocate_zeros(std::size_t bytes);
  void free(std::byte* memory) noexcept;

  // kernel: run<Kernel> of grid.h; argument: the Kernel, which is copied.
  void launch(const void* kernel, std::int64_t blocks, unsigned threads,
              std::size_t shared, const void* argument,
              std::size_t argument_bytes);
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
  void clear(void* memory, std::size_t bytes);  // to bytes of 0
  void wait();                                  // until all has taken effect
  void look();  // throws if something went wrong so far
  // f() makes calls of a library on handle(), now or at the step's end, once or
  // again: it holds what it uses (by value or shared), its signature_of() is of
  // all that the calls depend on, and it neither waits nor allocates.
  template <class F>
  void call(std::uint64_t signature, const F& f) {
    use_gpu();
    steps_.library(signature, f);
  }
  // When the calls before have taken effect.
  void record(cudaEvent_t event) {
    use_gpu();
    steps_.record(event);
  }
  void wait_for(cudaEvent_t event);
  // Lets later calls take effect after it: an event of another stream of this
  // GPU, which the caller makes and destroys.
  void after(cudaEvent_t event);
  cudaStream_t make_another();

  void begin_step(std::uint64_t key);
  void end_step() {
    use_gpu();
    steps_.end();
  }
  // Waits for what was launched, which may write to memory that goes next.
  void forget_steps() noexcept {
    api_->cudaStreamSynchronize(handle_);
    steps_.clear();
  }
  const StepGraphs& graphs() const { return steps_; }
  // Number of the turn; calls postponed in a turn are made before the next: a
  // step, or, outside one, what next_turn() ends.
  std::uint64_t turn() const { return turn_; }
  bool in_step() const { return steps_.inside(); }
  void next_turn() {
    if (!steps_.inside()) ++turn_;
  }

  // Room for one primitive to put things in, which the next may overwrite.
  template <class T>
  T* scratch(std::int64_t elements) {
    return reinterpret_cast<T*>(
        scratch_bytes(static_cast<std::size_t>(elements) * sizeof(T)));
  }
  // So many are there from the start.
  template <class T>
  std::int64_t scratch_elements() const {
    return static_cast<std::int64_t>(kScratchBytes / sizeof(T));
  }

 private:
  static constexpr std::size_t kScratchBytes = std::size_t{16} << 20;
  std::byte* scratch_bytes(std::size_t bytes);
  void synchronize();

  const Api* api_;
  int gpu_;
  unsigned most_threads_;
  cudaStream_t handle_;
  int compute_capability_ = 0;
  StepGraphs steps_;
  std::uint64_t turn_ = 1;
  std::byte* scratch_ = nullptr;
  std::size_t scratch_size_ = 0;
};

// The host's: a kernel's thread waits for the others of its block.
void wait_for_block(void* fiber);

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RUNTIME_STREAM_H_
