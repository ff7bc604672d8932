// CUDA's graphs, on the host: what a capture keeps, its launches do.

#include "tests/unit/device/emulated/graph.h"

#include <map>
#include <memory>
#include <vector>

#include "tests/unit/device/emulated/streams.h"

namespace dl::device::cuda {
namespace {

// A node's handle is the address of the graph's; an executable has others.
struct Graph {
  std::vector<std::unique_ptr<KeptWork>> nodes;
};
struct Executable {
  const Graph* graph;
  std::vector<std::unique_ptr<KeptWork>> nodes;
};

thread_local std::unique_ptr<Graph> captured;  // while there is a capture
thread_local cudaStream_t captured_stream;
thread_local bool spoilt = false;
std::map<const void*, std::unique_ptr<Graph>> graphs;
std::map<const void*, std::unique_ptr<Executable>> executables;

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (const auto failed = cuda_call("cudaStreamBeginCapture")) return failed;
  if (captured != nullptr) return cudaErrorIllegalState;
  if (mode != cudaStreamCaptureModeThreadLocal) return cudaErrorInvalidValue;
  captured = std::make_unique<Graph>();
  captured_stream = stream;
  spoilt = false;
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t, cudaGraph_t* graph) {
  const auto failed = cuda_call("cudaStreamEndCapture");
  *graph = nullptr;
  if (captured == nullptr) return cudaErrorIllegalState;
  auto made = std::move(captured);
  if (failed != cudaSuccess) return failed;
  if (spoilt) return cudaErrorStreamCaptureInvalidated;
  *graph = reinterpret_cast<cudaGraph_t>(made.get());
  graphs[*graph] = std::move(made);
  return cudaSuccess;
}

cudaError_t last_captured(cudaStream_t, cudaStreamCaptureStatus* status,
                          const cudaGraphNode_t** nodes, std::size_t* count) {
  thread_local cudaGraphNode_t last;
  *nodes = &last;
  *count = 0;
  *status = captured == nullptr ? cudaStreamCaptureStatusNone
            : spoilt            ? cudaStreamCaptureStatusInvalidated
                                : cudaStreamCaptureStatusActive;
  if (*status != cudaStreamCaptureStatusActive || captured->nodes.empty())
    return cudaSuccess;
  last = reinterpret_cast<cudaGraphNode_t>(captured->nodes.back().get());
  *count = 1;
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                        unsigned long long) {
  if (const auto failed = cuda_call("cudaGraphInstantiateWithFlags"))
    return failed;
  const auto found = graphs.find(graph);
  if (found == graphs.end()) return cudaErrorInvalidValue;
  auto made = std::make_unique<Executable>();
  made->graph = found->second.get();
  for (const auto& node : made->graph->nodes)
    made->nodes.push_back(std::make_unique<KeptWork>(*node));
  *executable = reinterpret_cast<cudaGraphExec_t>(made.get());
  executables[*executable] = std::move(made);
  return cudaSuccess;
}

// The node of the executable; null where there is none, or the graph is gone.
KeptWork* find(cudaGraphExec_t executable, cudaGraphNode_t node) {
  const auto found = executables.find(executable);
  if (found == executables.end()) return nullptr;
  for (const auto& [key, graph] : graphs) {
    if (graph.get() != found->second->graph) continue;
    for (std::size_t i = 0; i < graph->nodes.size(); ++i)
      if (reinterpret_cast<cudaGraphNode_t>(graph->nodes[i].get()) == node)
        return found->second->nodes[i].get();
  }
  return nullptr;
}

cudaError_t set_kernel(cudaGraphExec_t executable, cudaGraphNode_t node,
                       const cudaKernelNodeParams* to) {
  if (const auto failed = cuda_call("cudaGraphExecKernelNodeSetParams"))
    return failed;
  KeptWork* const found = find(executable, node);
  if (found == nullptr || !std::holds_alternative<KernelWork>(found->work()))
    return cudaErrorInvalidValue;
  const KernelWork work{to->func, to->gridDim, to->blockDim, to->sharedMemBytes,
                        to->kernelParams[0]};
  if (work.function != std::get<KernelWork>(found->work()).function)
    return cudaErrorInvalidValue;
  if (const auto failed = check(work)) return failed;
  *found = KeptWork(work);
  return cudaSuccess;
}

cudaError_t set_copy(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (const auto failed = cuda_call("cudaGraphExecMemcpyNodeSetParams1D"))
    return failed;
  KeptWork* const found = find(executable, node);
  if (found == nullptr || !std::holds_alternative<CopyWork>(found->work()))
    return cudaErrorInvalidValue;
  const CopyWork work{to, from, bytes, kind};
  if (const auto failed = check(work)) return failed;
  *found = KeptWork(work);
  return cudaSuccess;
}

// Later changes of the nodes are for later launches.
cudaError_t launch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (const auto failed = cuda_call("cudaGraphLaunch")) return failed;
  if (captured != nullptr) return illegal_in_capture();
  const auto found = executables.find(executable);
  if (found == executables.end()) return cudaErrorInvalidValue;
  std::vector<KeptWork> works;
  for (const auto& node : found->second->nodes) works.push_back(*node);
  return put(stream, [works = std::move(works)] {
    for (const KeptWork& work : works) work.perform();
  });
}

cudaError_t destroy_executable(cudaGraphExec_t executable) {
  return executables.erase(executable) == 1 ? cudaSuccess
                                            : cudaErrorInvalidValue;
}
cudaError_t destroy_graph(cudaGraph_t graph) {
  return graphs.erase(graph) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

KeptWork::KeptWork(const Work& work) : work_(work) {
  const auto* const kernel = std::get_if<KernelWork>(&work_);
  if (kernel == nullptr) return;
  const auto* const bytes = static_cast<const std::byte*>(kernel->argument);
  argument_.assign(bytes, bytes + argument_bytes(*kernel));
}

void KeptWork::perform() const {
  if (const auto* const kernel = std::get_if<KernelWork>(&work_)) {
    KernelWork with_argument = *kernel;
    with_argument.argument = argument_.data();
    cuda::perform(with_argument);
  } else if (const auto* const copy = std::get_if<CopyWork>(&work_)) {
    cuda::perform(*copy);
  } else {
    std::get<std::function<void()>>(work_)();
  }
}

bool captures(cudaStream_t stream) {
  return captured != nullptr && stream == captured_stream;
}

cudaError_t capture(const Work& work) {
  if (spoilt) return cudaErrorStreamCaptureInvalidated;
  captured->nodes.push_back(std::make_unique<KeptWork>(work));
  return cudaSuccess;
}

cudaError_t illegal_in_capture() {
  if (captured == nullptr) return cudaSuccess;
  spoilt = true;
  return cudaErrorStreamCaptureUnsupported;
}

std::size_t graph_objects() { return graphs.size() + executables.size(); }

void set_graph(Api& api) {
  api.last_captured = last_captured;
  api.cudaStreamBeginCapture = begin_capture;
  api.cudaStreamEndCapture = end_capture;
  api.cudaGraphInstantiateWithFlags = instantiate;
  api.cudaGraphLaunch = launch;
  api.cudaGraphExecKernelNodeSetParams = set_kernel;
  api.cudaGraphExecMemcpyNodeSetParams1D = set_copy;
  api.cudaGraphExecDestroy = destroy_executable;
  api.cudaGraphDestroy = destroy_graph;
}

}  // namespace dl::device::cuda
