// The CUDA runtime, on the host.

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/fibers.h"
#include "tests/unit/device/emulated/graph.h"
#include "tests/unit/device/emulated/streams.h"

namespace dl::device::cuda {
namespace {

// Memory of one kind, by where it begins.  The host's is of no GPU.
struct Memory {
  std::size_t bytes;
  int gpu;
};
using Owned = std::map<const std::byte*, Memory>;
constexpr int kNoGpu = -1;

bool recording = false;
std::vector<std::string> calls;
std::map<std::string, int, std::less<>> failures;
std::optional<std::size_t> calls_before_failure;
Owned device_memory, host_memory, freed;  // of the host's
std::atomic<std::size_t> bus_bytes = 0;
thread_local int gpu_of_thread = 0;
thread_local int calls_of_thread = 0;  // that are under way

cudaError_t get_device_count(int* count) {
  const char* const wanted = std::getenv("DL_EMULATED_GPUS");
  *count = wanted == nullptr ? 1 : std::atoi(wanted);
  if (*count < 0) return cudaErrorSystemNotReady;
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t set_device(int index) {
  if (const auto failed = cuda_call("cudaSetDevice")) return failed;
  int count = 0;
  get_device_count(&count);
  if (index >= count) return cudaErrorInvalidDevice;
  gpu_of_thread = index;
  return cudaSuccess;
}
int capability = 90;
cudaError_t get_attribute(int* value, cudaDeviceAttr attribute, int) {
  if (const auto failed = cuda_call("cudaDeviceGetAttribute")) return failed;
  if (attribute != cudaDevAttrComputeCapabilityMajor &&
      attribute != cudaDevAttrComputeCapabilityMinor)
    return cudaErrorInvalidValue;
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? capability / 10
                                                          : capability % 10;
  return cudaSuccess;
}
cudaError_t get_version(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
const char* error_text(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an emulated failure";
}

cudaError_t allocate(void** memory, std::size_t bytes, Owned& owned, int gpu) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  // Unwritten memory is NaN; scratch is large, and little of it is used.
  std::memset(*memory, 0xff, std::min(bytes, std::size_t{1} << 20));
  owned[static_cast<std::byte*>(*memory)] = {bytes, gpu};
  return cudaSuccess;
}
cudaError_t gpu_malloc(void** memory, std::size_t bytes) {
  if (const auto failed = cuda_call("cudaMalloc")) return failed;
  if (const auto failed = illegal_in_capture()) return failed;
  return allocate(memory, bytes, device_memory, gpu_of_thread);
}
cudaError_t gpu_free(void* memory) {
  cuda_call("cudaFree");
  if (const auto failed = illegal_in_capture()) return failed;
  if (memory == nullptr) return cudaSuccess;
  catch_up_all();
  if (device_memory.erase(static_cast<std::byte*>(memory)) == 0)
    return cudaErrorInvalidValue;
  std::free(memory);
  return cudaSuccess;
}
cudaError_t host_alloc(void** memory, std::size_t bytes, unsigned) {
  if (const auto failed = cuda_call("cudaHostAlloc")) return failed;
  if (const auto failed = illegal_in_capture()) return failed;
  return allocate(memory, bytes, host_memory, kNoGpu);
}
// It does not wait: what the GPU still reads there is NaN, and check_freed()
// finds what it writes.
cudaError_t free_host(void* memory) {
  if (const auto failed = illegal_in_capture()) return failed;
  if (memory == nullptr) return cudaSuccess;
  const auto found = host_memory.find(static_cast<std::byte*>(memory));
  if (found == host_memory.end()) return cudaErrorInvalidValue;
  std::memset(memory, 0xff, found->second.bytes);
  freed.insert(host_memory.extract(found));
  return cudaSuccess;
}

// Copies of another kind than their ends, or of another GPU's memory, are what
// the emulation is to find.
bool lies_in(const Owned& owned, const void* address, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(address);
  auto next = owned.upper_bound(begin);
  if (next == owned.begin()) return false;
  --next;
  const Memory& found = next->second;
  return begin + bytes <= next->first + found.bytes &&
         (found.gpu == kNoGpu || found.gpu == gpu_of_thread);
}
cudaError_t copy(void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t stream) {
  if (const auto failed = cuda_call("cudaMemcpyAsync")) return failed;
  const CopyWork work{to, from, bytes, kind};
  if (const auto failed = check(work)) {
    illegal_in_capture();
    return failed;
  }
  return put(stream, work);
}
cudaError_t set_memory(void* memory, int value, std::size_t bytes,
                       cudaStream_t stream) {
  if (const auto failed = cuda_call("cudaMemsetAsync")) return failed;
  return put(stream, [=] { std::memset(memory, value, bytes); });
}

cudaError_t get_last_error() { return cuda_call("cudaGetLastError"); }

cudaError_t launch(const void* function, dim3 grid, dim3 threads,
                   void** arguments, std::size_t shared, cudaStream_t stream) {
  if (const auto failed = cuda_call("cudaLaunchKernel")) return failed;
  const KernelWork work{function, grid, threads, shared, arguments[0]};
  if (const auto failed = check(work)) return failed;
  return put(stream, work);
}

using KernelFunction = std::size_t (*)(const Block&, const void*);
KernelFunction function_of(const KernelWork& work) {
  return reinterpret_cast<KernelFunction>(const_cast<void*>(work.function));
}

}  // namespace

cudaError_t check(const KernelWork& work) {
  constexpr std::size_t kMostShared = 48 << 10, kMostArguments = 4096;
  const unsigned threads = work.threads.x;
  const bool fits = work.grid.x > 0 && work.grid.x <= INT_MAX && threads > 0 &&
                    threads <= 1024 && (threads & (threads - 1)) == 0 &&
                    work.shared <= kMostShared &&
                    argument_bytes(work) <= kMostArguments;
  return fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

std::size_t argument_bytes(const KernelWork& work) {
  return function_of(work)({}, nullptr);
}

// Blocks run one after the other.  Threads without shared memory do not wait
// for each other, and need no fibers.
void perform(const KernelWork& work) {
  const auto run = function_of(work);
  const unsigned threads = work.threads.x;
  static Fibers fibers;
  static std::vector<double> shared;  // aligned as the GPU's
  for (unsigned index = 0; index < work.grid.x; ++index) {
    shared.assign((work.shared + 7) / 8, std::nan(""));
    auto* const memory = reinterpret_cast<std::byte*>(shared.data());
    Block block{index, work.grid.x, 0, threads, memory, nullptr};
    if (work.shared == 0) {
      for (; block.thread < threads; ++block.thread) run(block, work.argument);
      continue;
    }
    const auto go = [&](unsigned thread, void* fiber) {
      Block own = block;
      own.thread = thread;
      own.fiber = fiber;
      run(own, work.argument);
    };
    fibers.run(threads, std::ref(go));  // a copy would be allocated
  }
}

cudaError_t check(const CopyWork& work) {
  const bool up = work.kind == cudaMemcpyHostToDevice;
  const bool down = work.kind == cudaMemcpyDeviceToHost;
  return lies_in(up ? host_memory : device_memory, work.from, work.bytes) &&
                 lies_in(down ? host_memory : device_memory, work.to,
                         work.bytes)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

void perform(const CopyWork& work) {
  if (work.kind != cudaMemcpyDeviceToDevice) bus_bytes += work.bytes;
  std::memmove(work.to, work.from, work.bytes);
}

void check_freed() {
  for (const auto& [begin, memory] : freed) {
    const std::byte* const end = begin + memory.bytes;
    if (std::find_if(begin, end, [](std::byte byte) {
          return byte != std::byte{0xff};
        }) != end) {
      std::fputs("emulated GPU: wrote to pinned memory after it was freed\n",
                 stderr);
      std::abort();
    }
    std::free(const_cast<std::byte*>(begin));
  }
  freed.clear();
}

std::size_t emulated_bus_bytes() { return bus_bytes; }
std::size_t emulated_gpu_bytes() {
  std::size_t all = 0;
  for (const auto& [begin, memory] : device_memory) all += memory.bytes;
  return all;
}
void set_compute_capability(int tenfold) { capability = tenfold; }

void note_call(const char* name) {
  if (recording) calls.emplace_back(name);
}
std::vector<std::string> take_calls() {
  recording = true;
  return std::exchange(calls, {});
}
void fail_next(const std::string& name, int status) { failures[name] = status; }
void fail_call(std::size_t after) { calls_before_failure = after; }
bool take_failed_call() {
  return !std::exchange(calls_before_failure, std::nullopt);
}
int failure_of(const char* name) {
  if (calls_before_failure && (*calls_before_failure)-- == 0) {
    calls_before_failure.reset();
    return cudaErrorMemoryAllocation;
  }
  const auto found = failures.find(std::string_view(name));
  return found == failures.end() ? 0 : failures.extract(found).mapped();
}

int current_gpu() { return gpu_of_thread; }

std::recursive_mutex& lock_of_calls() {
  static std::recursive_mutex lock;
  return lock;
}

bool in_emulated_call() { return calls_of_thread > 0; }

bool lies_on_gpu(const void* address, std::size_t bytes) {
  return lies_in(device_memory, address, bytes);
}

void set_runtime(Api& api) {
  api.cudaGetDeviceCount = get_device_count;
  api.cudaSetDevice = set_device;
  api.cudaDeviceGetAttribute = get_attribute;
  api.cudaRuntimeGetVersion = get_version;
  api.cudaDriverGetVersion = get_version;
  api.cudaGetErrorString = error_text;
  api.cudaMalloc = gpu_malloc;
  api.cudaFree = gpu_free;
  api.cudaHostAlloc = host_alloc;
  api.cudaFreeHost = free_host;
  api.cudaMemcpyAsync = copy;
  api.cudaMemsetAsync = set_memory;
  api.cudaGetLastError = get_last_error;
  api.cudaLaunchKernel = launch;
}

namespace {

struct CallOfThread {
  CallOfThread() { ++calls_of_thread; }
  ~CallOfThread() { --calls_of_thread; }
  const std::lock_guard<std::recursive_mutex> hold{lock_of_calls()};
};

const Api& api_without_lock() {
  static const Api api = [] {
    Api made{};
    set_runtime(made);
    set_streams(made);
    set_graph(made);
    set_cublas(made);
    set_cudnn(made);
    set_nccl(made);
    return made;
  }();
  return api;
}

}  // namespace

// NCCL's calls wait for those of other threads.
const Api& emulated_api() {
  static const Api api = [] {
    Api made = api_without_lock();
#define DL_LOCKED(f)                           \
  made.f = [](auto... arguments) {             \
    const CallOfThread call;                   \
    return api_without_lock().f(arguments...); \
  };
    DL_LOCKED(cudaMalloc)
    DL_LOCKED(cudaHostAlloc)
    DL_LOCKED(cudaLaunchKernel)
    DL_LOCKED(last_captured)
    DL_CUDA_FUNCTIONS(DL_LOCKED)
#undef DL_LOCKED
    return made;
  }();
  return api;
}

}  // namespace dl::device::cuda
