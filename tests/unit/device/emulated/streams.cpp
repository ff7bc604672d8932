#include "tests/unit/device/emulated/streams.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

namespace dl::device::cuda {
namespace {

struct EmulatedStream {
  int gpu = 0;
  bool computes = false;
  std::deque<CopyWork> late;
  std::size_t made = 0;  // of those, so far
};
// By their handles.
std::map<const void*, std::unique_ptr<EmulatedStream>> streams;
struct Event {
  const void* recorded_in = nullptr;
  std::size_t after = 0;  // so many copies of that stream
};
std::map<const void*, std::unique_ptr<Event>> events;

cudaError_t call(const char* name) {
  note_call(name);
  return static_cast<cudaError_t>(failure_of(name));
}

template <class T>
T* find(const std::map<const void*, std::unique_ptr<T>>& owned,
        const void* handle) {
  const auto found = owned.find(handle);
  return found == owned.end() ? nullptr : found->second.get();
}

void catch_up(const void* stream, std::size_t copies = SIZE_MAX) {
  EmulatedStream* const found = find(streams, stream);
  if (found == nullptr) return;
  for (; !found->late.empty() && found->made < copies; ++found->made) {
    perform(found->late.front());
    found->late.pop_front();
  }
}
void catch_up(const Event& event) { catch_up(event.recorded_in, event.after); }

cudaError_t create_stream(cudaStream_t* stream, unsigned) {
  auto made = std::make_unique<EmulatedStream>();
  made->gpu = current_gpu();
  *stream = reinterpret_cast<cudaStream_t>(made.get());
  streams[*stream] = std::move(made);
  return call("cudaStreamCreateWithFlags");
}

cudaError_t destroy_stream(cudaStream_t stream) {
  catch_up(stream);
  streams.erase(stream);
  return call("cudaStreamDestroy");
}

cudaError_t synchronize_stream(cudaStream_t stream) {
  if (const auto failed = call("cudaStreamSynchronize")) return failed;
  catch_up(stream);
  return illegal_in_capture();
}

cudaError_t create_event(cudaEvent_t* event, unsigned) {
  if (const auto failed = call("cudaEventCreateWithFlags")) return failed;
  auto made = std::make_unique<Event>();
  *event = reinterpret_cast<cudaEvent_t>(made.get());
  events[*event] = std::move(made);
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  call("cudaEventDestroy");
  return events.erase(event) == 1 ? cudaSuccess
                                  : cudaErrorInvalidResourceHandle;
}

// In a capture it would be recorded in the graph, and could not be waited for.
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream) {
  if (const auto failed = call("cudaEventRecord")) return failed;
  Event* const found = find(events, event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  const EmulatedStream* const of = find(streams, stream);
  *found = {stream, of == nullptr ? 0 : of->made + of->late.size()};
  return illegal_in_capture();
}

cudaError_t synchronize_event(cudaEvent_t event) {
  if (const auto failed = call("cudaEventSynchronize")) return failed;
  const Event* const found = find(events, event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  catch_up(*found);
  return illegal_in_capture();
}

// In a capture it would wait for what was recorded in the same.
cudaError_t wait_for_event(cudaStream_t, cudaEvent_t event, unsigned) {
  if (const auto failed = call("cudaStreamWaitEvent")) return failed;
  const Event* const found = find(events, event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  catch_up(*found);
  return illegal_in_capture();
}

}  // namespace

bool is_of_this_gpu(cudaStream_t stream) {
  const EmulatedStream* const found = find(streams, stream);
  return found != nullptr && found->gpu == current_gpu();
}

void compute(cudaStream_t stream) {
  catch_up(stream);
  if (EmulatedStream* const found = find(streams, stream))
    found->computes = true;
}

cudaError_t copy_to_gpu(cudaStream_t stream, const CopyWork& work) {
  EmulatedStream* const found = find(streams, stream);
  if (found == nullptr || found->computes || capturing())
    return perform_or_capture(work);
  found->late.push_back(work);
  return cudaSuccess;
}

void set_streams(Api& api) {
  api.cudaStreamCreateWithFlags = create_stream;
  api.cudaStreamDestroy = destroy_stream;
  api.cudaStreamSynchronize = synchronize_stream;
  api.cudaStreamWaitEvent = wait_for_event;
  api.cudaEventCreateWithFlags = create_event;
  api.cudaEventDestroy = destroy_event;
  api.cudaEventRecord = record_event;
  api.cudaEventSynchronize = synchronize_event;
}

}  // namespace dl::device::cuda
