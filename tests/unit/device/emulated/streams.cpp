// Streams and events of the emulated GPU.

#include "tests/unit/device/emulated/streams.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>

namespace dl::device::cuda {
namespace {

struct EmulatedStream {
  int gpu = 0;
  std::mt19937 lots;
  std::deque<KeptWork> asked_for;
  std::size_t done = 0;  // of all that it was ever asked for
};
// By their handles.
std::map<const void*, std::unique_ptr<EmulatedStream>> streams;
struct Event {
  const void* recorded_in = nullptr;
  std::size_t after = 0;  // so much of what that stream does
};
std::map<const void*, std::unique_ptr<Event>> events;

template <class T>
T* find(const std::map<const void*, std::unique_ptr<T>>& owned,
        const void* handle) {
  const auto found = owned.find(handle);
  return found == owned.end() ? nullptr : found->second.get();
}

// An event of another stream may be among what is done.
void run(EmulatedStream& stream, std::size_t until = SIZE_MAX) {
  while (!stream.asked_for.empty() && stream.done < until) {
    const KeptWork next = std::move(stream.asked_for.front());
    stream.asked_for.pop_front();
    ++stream.done;
    next.perform();
  }
}
void run_until(const Event& event) {
  if (EmulatedStream* const found = find(streams, event.recorded_in))
    run(*found, event.after);
}

cudaError_t create_stream(cudaStream_t* stream, unsigned) {
  auto made = std::make_unique<EmulatedStream>();
  made->gpu = current_gpu();
  made->lots.seed(static_cast<unsigned>(std::ranges::count_if(
      streams,
      [&](const auto& entry) { return entry.second->gpu == made->gpu; })));
  *stream = reinterpret_cast<cudaStream_t>(made.get());
  streams[*stream] = std::move(made);
  return cuda_call("cudaStreamCreateWithFlags");
}

cudaError_t destroy_stream(cudaStream_t stream) {
  catch_up(stream);
  streams.erase(stream);
  if (std::ranges::all_of(streams, [](const auto& entry) {
        return entry.second->asked_for.empty();
      }))
    check_freed();
  return cuda_call("cudaStreamDestroy");
}

bool has_failed() {
  const char* const faulty = std::getenv("DL_EMULATED_FAULT");
  return faulty != nullptr && std::atoi(faulty) == current_gpu();
}

cudaError_t synchronize_stream(cudaStream_t stream) {
  if (const auto failed = cuda_call("cudaStreamSynchronize")) return failed;
  catch_up(stream);
  if (has_failed()) return cudaErrorIllegalAddress;
  return illegal_in_capture();
}

cudaError_t query_stream(cudaStream_t) {
  if (const auto failed = cuda_call("cudaStreamQuery")) return failed;
  if (has_failed()) return cudaErrorIllegalAddress;
  return illegal_in_capture();
}

cudaError_t create_event(cudaEvent_t* event, unsigned) {
  if (const auto failed = cuda_call("cudaEventCreateWithFlags")) return failed;
  auto made = std::make_unique<Event>();
  *event = reinterpret_cast<cudaEvent_t>(made.get());
  events[*event] = std::move(made);
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  cuda_call("cudaEventDestroy");
  return events.erase(event) == 1 ? cudaSuccess
                                  : cudaErrorInvalidResourceHandle;
}

// In a capture it would be recorded in the graph, and could not be waited for.
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream) {
  if (const auto failed = cuda_call("cudaEventRecord")) return failed;
  Event* const found = find(events, event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  const EmulatedStream* const of = find(streams, stream);
  if (of == nullptr) return cudaErrorInvalidResourceHandle;
  *found = {stream, of->done + of->asked_for.size()};
  return illegal_in_capture();
}

cudaError_t synchronize_event(cudaEvent_t event) {
  if (const auto failed = cuda_call("cudaEventSynchronize")) return failed;
  const Event* const found = find(events, event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  run_until(*found);
  return illegal_in_capture();
}

// In a capture it would wait for what was recorded in the same.
cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const auto failed = cuda_call("cudaStreamWaitEvent")) return failed;
  if (const auto failed = illegal_in_capture()) return failed;
  const Event* const found = find(events, event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  return put(stream, [now = *found] { run_until(now); });
}

}  // namespace

cudaError_t put(cudaStream_t stream, const Work& work) {
  EmulatedStream* const found = find(streams, stream);
  if (found == nullptr || found->gpu != current_gpu())
    return cudaErrorInvalidResourceHandle;
  if (captures(stream)) return capture(work);
  found->asked_for.emplace_back(work);
  if (found->lots() % 4 == 0) run(*found);
  return cudaSuccess;
}

void catch_up(cudaStream_t stream) {
  if (EmulatedStream* const found = find(streams, stream)) run(*found);
}

void catch_up_all() {
  for (const auto& [handle, stream] : streams) run(*stream);
}

void set_streams(Api& api) {
  api.cudaStreamCreateWithFlags = create_stream;
  api.cudaStreamDestroy = destroy_stream;
  api.cudaStreamQuery = query_stream;
  api.cudaStreamSynchronize = synchronize_stream;
  api.cudaStreamWaitEvent = wait_for_event;
  api.cudaEventCreateWithFlags = create_event;
  api.cudaEventDestroy = destroy_event;
  api.cudaEventRecord = record_event;
  api.cudaEventSynchronize = synchronize_event;
}

}  // namespace dl::device::cuda
