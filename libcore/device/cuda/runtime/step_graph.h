// The calls of one step of training as a graph that is launched at once
// (device/api/device.h, begin_step()).  The calls of a key's first step are
// made as they come and written down.  The calls of the second are put off
// until its end, and then captured.  From then on the host walks along the
// list, puts what differs into the graph, and launches that.  A call that is
// not the next of the list ends this: what was put off is made, and the list is
// begun anew.

#ifndef DL_LIBCORE_DEVICE_CUDA_RUNTIME_STEP_GRAPH_H_
#define DL_LIBCORE_DEVICE_CUDA_RUNTIME_STEP_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

#include "libcore/device/cuda/runtime/api.h"

namespace dl::device::cuda {

// Hash of everything that a library's call depends on: addresses, sizes,
// factors.
template <class... T>
std::uint64_t signature_of(const T&... values) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  [[maybe_unused]] const auto add = [&hash](const void* value,
                                            std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      hash =
          (hash ^ static_cast<const unsigned char*>(value)[i]) * 0x100000001b3;
  };
  static_assert(((std::has_unique_object_representations_v<T> ||
                  std::is_floating_point_v<T>)&&...),
                "bytes between its members would count");
  (add(&values, sizeof(T)), ...);
  return hash;
}

// Used by the stream's thread.  Outside a step, calls are made as they come.
class StepGraphs {
 public:
  StepGraphs(const Api& api, int gpu, cudaStream_t stream)
      : api_(api), gpu_(gpu), stream_(stream) {}
  ~StepGraphs() { clear(); }
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  // A step that was not ended, because something was thrown, ends here.
  void begin(std::uint64_t key);
  // Throws Error: kUnavailable, a call that was put off failed.
  void end();
  bool inside() const { return state_ != State::kOutside; }

  // As those of Stream.  They throw what they do or, if they are put off, what
  // the calls before them do.
  void kernel(const void* function, unsigned blocks, unsigned threads,
              std::size_t shared, const void* argument, std::size_t bytes);
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
  void clear(void* memory, std::size_t bytes);
  template <class F>
  void library(std::uint64_t signature, const F& f) {
    Call call;
    call.kind = Kind::kLibrary;
    call.signature = signature;
    if (put_off(call, nullptr)) return;
    f();
    if (state_ != State::kRecording) return;
    call.work = f;
    note(std::move(call), nullptr);
  }
  // When the calls before have taken effect; never a part of the graph, as
  // others wait for it.
  void record(cudaEvent_t event);

  // Makes the postponed calls now, as other things are asked of the GPU
  // (memory), after which the step may go on; or whose end is waited for, after
  // which there is no graph for this step.
  void make_now();
  void make_now_for_good();
  // Before an event is waited for.
  void make_now_if_awaited(cudaEvent_t event);
  // Where nothing may be thrown: end() throws it.
  void make_now_quietly() noexcept;

  // Forgets all keys, what was put off, and what it holds of libraries.
  void clear() noexcept;

  std::size_t keys() const { return lists_.size(); }
  static constexpr std::size_t kMostKeys = 16;
  // So many failures one after the other, and a key has no graph any more.
  static constexpr int kMostFailures = 3;

 private:
  enum class State {
    kOutside,
    kDirect,     // calls are made
    kRecording,  // and written down
    kWalking,    // they are put off as long as they are those of the list
  };
  enum class Kind { kKernel, kCopy, kClear, kLibrary };
  struct Call {
    Kind kind = Kind::kKernel;
    const void* from = nullptr;  // or the kernel's function
    void* to = nullptr;
    std::size_t bytes = 0;  // of the copy, or of the kernel's argument
    unsigned blocks = 0, threads = 0;
    std::size_t shared = 0;
    std::size_t argument = 0;  // where in the list's bytes
    cudaMemcpyKind direction = cudaMemcpyDefault;
    std::uint64_t signature = 0;
    std::function<void()> work;
    cudaGraphNode_t node = nullptr;
    bool changed = false;  // since the node was set
  };
  struct List {
    std::vector<Call> calls;
    std::vector<std::byte> arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    int failures = 0;
    std::uint64_t used = 0;
  };

  static bool fits(const Call& kept, const Call& call);
  bool put_off(const Call& call, const void* argument);
  void note(Call&& call, const void* argument);
  void run(const Call& call, const void* argument);
  void run_put_off();
  void record_events();
  void launch();
  bool capture();
  bool set_changed();
  void fail();
  void drop_graph(List& list);
  void forget();

  const Api& api_;
  int gpu_;
  cudaStream_t stream_;
  std::map<std::uint64_t, List> lists_;
  std::uint64_t steps_ = 0;
  // State of the step:
  State state_ = State::kOutside;
  List* list_ = nullptr;
  std::size_t next_ = 0;  // walking: the calls before it are put off
  std::vector<cudaEvent_t> events_;
  std::exception_ptr failure_;
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RUNTIME_STEP_GRAPH_H_
