// Recording and launching of a step as a CUDA graph.

#include "libcore/device/cuda/runtime/step_graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {
namespace {

// A graph takes memory for each of its calls.
constexpr std::size_t kMostCalls = std::size_t{1} << 16;
constexpr std::size_t kAlignment = 16;  // of arguments

}  // namespace

void StepGraphs::clear() noexcept {
  for (auto& [key, list] : lists_) drop_graph(list);
  lists_.clear();
  events_.clear();
  failure_ = nullptr;
  state_ = State::kOutside;
}

void StepGraphs::begin(std::uint64_t key) {
  if (inside()) {
    failure_ = nullptr;  // another was thrown
    make_now_for_good();
    state_ = State::kOutside;
  }
  if (!lists_.contains(key) && lists_.size() >= kMostKeys) {
    const auto oldest = std::ranges::min_element(
        lists_, {}, [](const auto& entry) { return entry.second.used; });
    drop_graph(oldest->second);
    lists_.erase(oldest);
  }
  list_ = &lists_[key];
  list_->used = ++steps_;
  next_ = 0;
  state_ = list_->failures >= kMostFailures ? State::kDirect
           : list_->calls.empty()           ? State::kRecording
                                            : State::kWalking;
}

void StepGraphs::end() {
  if (state_ == State::kWalking && next_ < list_->calls.size()) make_now();
  if (std::exchange(state_, State::kOutside) == State::kWalking) launch();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void StepGraphs::kernel(const void* function, unsigned blocks, unsigned threads,
                        std::size_t shared, const void* argument,
                        std::size_t bytes) {
  Call call;
  call.from = function;
  call.blocks = blocks;
  call.threads = threads;
  call.shared = shared;
  call.bytes = bytes;
  if (put_off(call, argument)) return;
  run(call, argument);
  note(std::move(call), argument);
}

void StepGraphs::copy(void* to, const void* from, std::size_t bytes,
                      cudaMemcpyKind kind) {
  Call call;
  call.kind = Kind::kCopy;
  call.to = to;
  call.from = from;
  call.bytes = bytes;
  call.direction = kind;
  if (put_off(call, nullptr)) return;
  run(call, nullptr);
  note(std::move(call), nullptr);
}

void StepGraphs::clear(void* memory, std::size_t bytes) {
  Call call;
  call.kind = Kind::kClear;
  call.to = memory;
  call.bytes = bytes;
  if (put_off(call, nullptr)) return;
  run(call, nullptr);
  note(std::move(call), nullptr);
}

// Whether the calls differ only in parameters that a node can be given anew.
bool StepGraphs::fits(const Call& kept, const Call& call) {
  if (kept.kind != call.kind) return false;
  switch (kept.kind) {
    case Kind::kKernel:
      return kept.from == call.from && kept.blocks == call.blocks &&
             kept.threads == call.threads && kept.shared == call.shared &&
             kept.bytes == call.bytes;
    case Kind::kCopy:
      return kept.bytes == call.bytes && kept.direction == call.direction;
    case Kind::kClear:
      return kept.bytes == call.bytes && kept.to == call.to;
    case Kind::kLibrary:
      return kept.signature == call.signature;
  }
  return false;
}

// Whether the call is the list's next, which is then made at the step's end.
bool StepGraphs::put_off(const Call& call, const void* argument) {
  if (state_ != State::kWalking) return false;
  if (next_ == list_->calls.size() || !fits(list_->calls[next_], call)) {
    make_now();
    return false;
  }
  Call& kept = list_->calls[next_];
  if (kept.kind == Kind::kKernel) {
    std::byte* const bytes = list_->arguments.data() + kept.argument;
    if (std::memcmp(bytes, argument, kept.bytes) != 0) {
      std::memcpy(bytes, argument, kept.bytes);
      kept.changed = true;
    }
  } else if (kept.to != call.to || kept.from != call.from) {
    kept.to = call.to;
    kept.from = call.from;
    kept.changed = true;
  }
  ++next_;
  return true;
}

void StepGraphs::note(Call&& call, const void* argument) {
  if (state_ != State::kRecording) return;
  if (list_->calls.size() == kMostCalls) {
    list_->failures = kMostFailures;
    state_ = State::kDirect;
    return forget();
  }
  auto& bytes = list_->arguments;
  call.argument = bytes.size();
  if (call.kind == Kind::kKernel) {
    bytes.resize(call.argument +
                 (call.bytes + kAlignment - 1) / kAlignment * kAlignment);
    std::memcpy(bytes.data() + call.argument, argument, call.bytes);
  }
  list_->calls.push_back(std::move(call));
}

void StepGraphs::run(const Call& call, const void* argument) {
  switch (call.kind) {
    case Kind::kKernel: {
      void* arguments[] = {const_cast<void*>(argument)};
      return check(api_, gpu_,
                   api_.cudaLaunchKernel(call.from, dim3(call.blocks),
                                         dim3(call.threads), arguments,
                                         call.shared, stream_),
                   "starting a kernel");
    }
    case Kind::kCopy:
      return check(api_, gpu_,
                   api_.cudaMemcpyAsync(call.to, call.from, call.bytes,
                                        call.direction, stream_),
                   "copying");
    case Kind::kClear:
      return check(api_, gpu_,
                   api_.cudaMemsetAsync(call.to, 0, call.bytes, stream_),
                   "clearing memory");
    case Kind::kLibrary:
      return call.work();
  }
}

void StepGraphs::record(cudaEvent_t event) {
  if (state_ == State::kWalking) return events_.push_back(event);
  check(api_, gpu_, api_.cudaEventRecord(event, stream_), "recording an event");
}

// All are, even where one fails: what they tell is that memory is free.
void StepGraphs::record_events() {
  cudaError_t status = cudaSuccess;
  for (const cudaEvent_t event : events_)
    if (const auto failed = api_.cudaEventRecord(event, stream_))
      status = failed;
  events_.clear();
  check(api_, gpu_, status, "recording an event");
}

// If one fails, those after it are not made, as if it had thrown at once.
void StepGraphs::run_put_off() {
  try {
    for (std::size_t i = 0; i < next_; ++i) {
      const Call& call = list_->calls[i];
      run(call, list_->arguments.data() + call.argument);
    }
  } catch (...) {
    for (const cudaEvent_t event : events_)
      api_.cudaEventRecord(event, stream_);
    events_.clear();
    forget();
    throw;
  }
  record_events();
}

void StepGraphs::make_now() {
  if (state_ != State::kWalking) return;
  state_ = State::kDirect;
  fail();
  run_put_off();
  if (list_->failures >= kMostFailures) return forget();
  if (next_ < list_->calls.size()) {
    list_->arguments.resize(list_->calls[next_].argument);
    list_->calls.resize(next_);
  }
  state_ = State::kRecording;
}

void StepGraphs::make_now_for_good() {
  const State state = state_;
  if (state != State::kWalking && state != State::kRecording) return;
  state_ = State::kDirect;
  fail();
  if (state == State::kWalking) run_put_off();
  forget();
}

void StepGraphs::make_now_if_awaited(cudaEvent_t event) {
  if (std::ranges::find(events_, event) != events_.end()) make_now();
}

void StepGraphs::make_now_quietly() noexcept {
  try {
    make_now();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

// The same can be asked without the graph: an error that stays shows there.
void StepGraphs::launch() {
  const bool again = list_->executable != nullptr;
  if ((again || capture()) && set_changed() &&
      api_.cudaGraphLaunch(list_->executable, stream_) == cudaSuccess) {
    if (again) list_->failures = 0;
    return record_events();
  }
  api_.cudaGetLastError();  // libraries look at it
  fail();
  run_put_off();
  if (list_->failures >= kMostFailures) forget();
}

bool StepGraphs::capture() {
  List& list = *list_;
  if (api_.cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) !=
      cudaSuccess)
    return false;
  bool captured = true;
  try {
    for (Call& call : list.calls) {
      run(call, list.arguments.data() + call.argument);
      call.node = nullptr;
      call.changed = false;
      if (call.kind != Kind::kKernel && call.kind != Kind::kCopy) continue;
      // The next call would wait for what was captured last.
      cudaStreamCaptureStatus status{};
      const cudaGraphNode_t* last = nullptr;
      std::size_t count = 0;
      check(api_, gpu_, api_.last_captured(stream_, &status, &last, &count),
            "capturing a step");
      if (status == cudaStreamCaptureStatusActive && count == 1)
        call.node = last[0];
      else
        captured = false;
    }
  } catch (...) {
    captured = false;
  }
  if (api_.cudaStreamEndCapture(stream_, &list.graph) != cudaSuccess)
    return false;
  return captured && api_.cudaGraphInstantiateWithFlags(
                         &list.executable, list.graph, 0) == cudaSuccess;
}

bool StepGraphs::set_changed() {
  for (Call& call : list_->calls) {
    if (!call.changed) continue;
    cudaError_t status = cudaSuccess;
    if (call.kind == Kind::kKernel) {
      void* arguments[] = {list_->arguments.data() + call.argument};
      cudaKernelNodeParams node{};
      node.func = const_cast<void*>(call.from);
      node.gridDim = dim3(call.blocks);
      node.blockDim = dim3(call.threads);
      node.sharedMemBytes = static_cast<unsigned>(call.shared);
      node.kernelParams = arguments;
      status = api_.cudaGraphExecKernelNodeSetParams(list_->executable,
                                                     call.node, &node);
    } else {
      status = api_.cudaGraphExecMemcpyNodeSetParams1D(
          list_->executable, call.node, call.to, call.from, call.bytes,
          call.direction);
    }
    if (status != cudaSuccess) return false;
    call.changed = false;
  }
  return true;
}

void StepGraphs::fail() {
  ++list_->failures;
  drop_graph(*list_);
}

// Pending work of the graph continues.
void StepGraphs::drop_graph(List& list) {
  if (list.executable != nullptr) api_.cudaGraphExecDestroy(list.executable);
  if (list.graph != nullptr) api_.cudaGraphDestroy(list.graph);
  list.executable = nullptr;
  list.graph = nullptr;
}

void StepGraphs::forget() {
  list_->calls.clear();
  list_->arguments.clear();
  next_ = 0;
}

}  // namespace dl::device::cuda
