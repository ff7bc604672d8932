// Building and running of cuDNN graphs.

#include "libcore/device/cuda/runtime/dnn_graph.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::device::cuda {
namespace {

// Engines that want more are left out, faster as they may be.
constexpr std::int64_t kMostWorkspace = std::int64_t{4} << 30;

// Most engines tried among those that may not be right: those after them are
// slow, and some take a second to be compiled.
constexpr int kMostTried = 8;

constexpr const char* kPuttingTogether = "putting a graph of cuDNN together";

bool not_supported(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
}

std::vector<std::int64_t> channels_last(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  std::int64_t step = extents[1];
  for (std::size_t k = extents.size(); k-- > 2;) {
    strides[k] = step;
    step *= extents[k];
  }
  strides[0] = step;
  return strides;
}

// Sums whose order varies give other bits each time.  Engines without tensor
// cores are slow, and some take both ends of an axis to be padded alike.
bool suits(Dnn& dnn, const DnnDescriptor& config) {
  DnnDescriptor engine(dnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t place = engine.get();
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
             &place);
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const std::int64_t n =
      engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  if (std::find(notes, notes + n, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ==
      notes + n)
    return false;
  return std::none_of(notes, notes + n, [](cudnnBackendNumericalNote_t note) {
    return note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
           note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION ||
           note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC ||
           note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 ||
           note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13;
  });
}

std::int64_t workspace_of(const DnnDescriptor& plan) {
  std::int64_t bytes = 0;
  plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
           &bytes);
  return bytes;
}

// By the speed that cuDNN expects of them.
std::vector<DnnDescriptor> configs_by(Dnn& dnn, cudnnBackendHeurMode_t mode,
                                      const DnnDescriptor& graph) {
  DnnDescriptor heuristics(dnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (heuristics.try_finalize() != CUDNN_STATUS_SUCCESS) return {};
  std::vector<DnnDescriptor> configs;
  std::vector<cudnnBackendDescriptor_t> places(static_cast<std::size_t>(
      heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr)));
  if (places.empty()) return {};
  for (auto& place : places)
    place = configs.emplace_back(dnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get();
  const std::int64_t n = heuristics.get(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      static_cast<std::int64_t>(places.size()), places.data());
  configs.erase(configs.begin() + n, configs.end());
  return configs;
}

// Attributes of a convolution that differ in name alone.
struct ConvolutionNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t x, w, y, window, alpha, beta;
};
ConvolutionNames names_of(DnnConvolution kind) {
  switch (kind) {
    case DnnConvolution::kForward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case DnnConvolution::kBackwardData:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case DnnConvolution::kBackwardWeights:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

DnnDescriptor pointwise(Dnn& dnn, cudnnPointwiseMode_t mode) {
  DnnDescriptor what(dnn, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  what.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
           CUDNN_DATA_FLOAT);
  return what;
}

}  // namespace

Dnn::Dnn(Stream& stream, Precision precision)
    : stream_(stream), precision_(precision) {
  check(api().cudnnCreate(&handle_), "starting cuDNN");
  const cudnnStatus_t status = api().cudnnSetStream(handle_, stream.handle());
  if (status != CUDNN_STATUS_SUCCESS) api().cudnnDestroy(handle_);
  check(status, "giving cuDNN a stream");
}

Dnn::~Dnn() {
  stream_.free(workspace_);
  api().cudnnDestroy(handle_);
}

void Dnn::check(cudnnStatus_t status, const char* what) const {
  cuda::check(api(), stream_.gpu(), status, what);
}

std::byte* Dnn::workspace(std::size_t bytes) {
  if (bytes <= workspace_size_) return workspace_;
  give_back_workspace();
  workspace_ = stream_.allocate(bytes);
  workspace_size_ = bytes;
  return workspace_;
}

void Dnn::give_back_workspace() {
  stream_.free(std::exchange(workspace_, nullptr));
  workspace_size_ = 0;
}

DnnDescriptor::DnnDescriptor(Dnn& dnn, cudnnBackendDescriptorType_t type)
    : dnn_(&dnn) {
  dnn.check(dnn.api().cudnnBackendCreateDescriptor(type, &it_),
            kPuttingTogether);
}

DnnDescriptor::~DnnDescriptor() {
  if (it_ != nullptr) dnn_->api().cudnnBackendDestroyDescriptor(it_);
}

void DnnDescriptor::set(cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, std::int64_t count,
                        const void* values) {
  dnn_->check(
      dnn_->api().cudnnBackendSetAttribute(it_, name, type, count, values),
      kPuttingTogether);
}

std::int64_t DnnDescriptor::get(cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type,
                                std::int64_t most, void* values) const {
  std::int64_t count = 0;
  dnn_->check(dnn_->api().cudnnBackendGetAttribute(it_, name, type, most,
                                                   &count, values),
              "asking cuDNN");
  return count;
}

cudnnStatus_t DnnDescriptor::try_finalize() {
  return dnn_->api().cudnnBackendFinalize(it_);
}

void DnnDescriptor::finalize(const char* what) {
  dnn_->check(try_finalize(), what);
}

std::int64_t DnnGraph::add_tensor(std::span<const std::int64_t> extents,
                                  cudnnDataType_t type) {
  return describe(extents, type, false);
}

std::int64_t DnnGraph::add_between(std::span<const std::int64_t> extents) {
  return describe(extents, CUDNN_DATA_FLOAT, true);
}

std::int64_t DnnGraph::describe(std::span<const std::int64_t> extents,
                                cudnnDataType_t type, bool between) {
  const auto id = static_cast<std::int64_t>(tensors_.size());
  DnnDescriptor t(dnn_, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment_);
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
  t.set(CUDNN_ATTR_TENSOR_STRIDES, channels_last(extents));
  t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, between);
  t.finalize(kPuttingTogether);
  tensors_.push_back(std::move(t));
  if (!between) ids_.push_back(id);
  return id;
}

void DnnGraph::convolve(DnnConvolution kind, const DnnWindow& window,
                        std::int64_t x, std::int64_t w, std::int64_t y) {
  DnnDescriptor c(dnn_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
        CUDNN_DATA_FLOAT);
  c.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
        CUDNN_CROSS_CORRELATION);
  c.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
        static_cast<std::int64_t>(window.stride.size()));
  c.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, window.stride);
  c.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, window.dilation);
  c.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, window.pad_begin);
  c.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, window.pad_end);
  c.finalize(kPuttingTogether);

  const ConvolutionNames names = names_of(kind);
  DnnDescriptor operation(dnn_, names.operation);
  operation.set(names.x, tensor(x));
  operation.set(names.w, tensor(w));
  operation.set(names.y, tensor(y));
  operation.set(names.window, c);
  operation.set(names.alpha, CUDNN_TYPE_FLOAT, 1.0F);
  operation.set(names.beta, CUDNN_TYPE_FLOAT, 0.0F);
  operation.finalize(kPuttingTogether);
  operations_.push_back(std::move(operation));
}

void DnnGraph::add(std::int64_t y, std::int64_t a, std::int64_t b) {
  add_pointwise(pointwise(dnn_, CUDNN_POINTWISE_ADD), y, a, b);
}

void DnnGraph::relu(std::int64_t y, std::int64_t a) {
  DnnDescriptor what = pointwise(dnn_, CUDNN_POINTWISE_RELU_FWD);
  what.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION,
           CUDNN_PROPAGATE_NAN);
  add_pointwise(std::move(what), y, a, {});
}

void DnnGraph::add_pointwise(DnnDescriptor what, std::int64_t y, std::int64_t a,
                             std::optional<std::int64_t> b) {
  what.finalize(kPuttingTogether);
  DnnDescriptor operation(dnn_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor(a));
  if (b) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tensor(*b));
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensor(y));
  operation.finalize(kPuttingTogether);
  operations_.push_back(std::move(operation));
}

std::optional<DnnPlan> DnnGraph::plan_by(cudnnBackendHeurMode_t mode,
                                         const DnnDescriptor& graph,
                                         const Check& is_right) const {
  int tried = 0;
  for (const DnnDescriptor& config : configs_by(dnn_, mode, graph)) {
    if (tried == kMostTried) break;
    if (!suits(dnn_, config)) continue;
    DnnDescriptor made(dnn_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
             dnn_.handle());
    made.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    if (made.try_finalize() != CUDNN_STATUS_SUCCESS) continue;
    const std::int64_t workspace = workspace_of(made);
    if (workspace > kMostWorkspace) continue;
    DnnPlan plan(dnn_, std::move(made), static_cast<std::size_t>(workspace),
                 ids_);
    if (!is_right || is_right(plan)) return plan;
    ++tried;
  }
  return {};
}

std::optional<DnnPlan> DnnGraph::plan(const Check& is_right) const {
  std::vector<cudnnBackendDescriptor_t> operations;
  operations.reserve(operations_.size());
  for (const DnnDescriptor& operation : operations_)
    operations.push_back(operation.get());
  DnnDescriptor graph(dnn_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, dnn_.handle());
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            static_cast<std::int64_t>(operations.size()), operations.data());
  const cudnnStatus_t status = graph.try_finalize();
  if (not_supported(status)) return {};
  dnn_.check(status, kPuttingTogether);
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    if (auto plan = plan_by(mode, graph, is_right)) return plan;
  return {};
}

void DnnPlan::run(std::span<void* const> tensors) {
  require(
      tensors.size() == engine_->ids.size() && tensors.size() <= kMostTensors,
      "a graph without all of its tensors");
  Places places{};
  std::ranges::copy(tensors, places.begin());
  Dnn& dnn = *engine_->dnn;
  std::byte* const workspace = dnn.workspace(engine_->workspace_size);
  dnn.stream().call(signature_of(engine_.get(), places, workspace),
                    [engine = engine_, places, workspace] {
                      engine->execute(places, workspace);
                    });
}

void DnnPlan::Engine::execute(const Places& places, std::byte* workspace) {
  if (!pack || last_workspace != workspace || last != places) {
    pack.reset();
    last = places;
    last_workspace = workspace;
    DnnDescriptor made(*dnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    made.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    made.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             static_cast<std::int64_t>(ids.size()), last.data());
    made.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
             last_workspace);
    made.finalize("giving cuDNN its tensors");
    pack = std::move(made);
  }
  dnn->check(
      dnn->api().cudnnBackendExecute(dnn->handle(), plan.get(), pack->get()),
      "convolution");
}

}  // namespace dl::device::cuda
