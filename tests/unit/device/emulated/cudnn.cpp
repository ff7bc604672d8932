// cuDNN's graph API, emulated: what is called.

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/error.h"
#include "tests/unit/device/emulated/dnn_objects.h"
#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/streams.h"

namespace dl::device::cuda {
namespace {

constexpr std::int64_t kWorkspace = 512;  // bytes, of every plan

// A descriptor's handle; what it holds is shared with those that refer to it.
struct DnnHandle {
  std::shared_ptr<DnnObject> it = std::make_shared<DnnObject>();
};
DnnHandle& handle_of(cudnnBackendDescriptor_t descriptor) {
  return *static_cast<DnnHandle*>(descriptor);
}

struct Library {
  cudaStream_t stream = nullptr;
};
Library& library_of(cudnnHandle_t dnn) {
  return *reinterpret_cast<Library*>(dnn);
}

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
      return 8;
    default:  // float and enumerations
      return 4;
  }
}

cudnnStatus_t cudnn_call(const char* name) {
  note_call(name);
  return static_cast<cudnnStatus_t>(failure_of(name));
}

cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t* descriptor) {
  if (const auto failed = cudnn_call("cudnnBackendCreateDescriptor"))
    return failed;
  const bool queried = type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR ||
                       type == CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  if (dnn_rules(type).empty() && !queried) return CUDNN_STATUS_NOT_SUPPORTED;
  auto made = std::make_unique<DnnHandle>();
  made->it->type = type;
  *descriptor = made.release();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t destroy_descriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<DnnHandle*>(descriptor);
  return cudnn_call("cudnnBackendDestroyDescriptor");
}

cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type,
                            std::int64_t count, const void* values) {
  if (const auto failed = cudnn_call("cudnnBackendSetAttribute")) return failed;
  DnnObject& object = *handle_of(descriptor).it;
  if (object.finalized) return CUDNN_STATUS_BAD_PARAM;
  const auto rules = dnn_rules(object.type);
  const auto rule = std::ranges::find(rules, name, &DnnRule::name);
  if (rule == rules.end()) return CUDNN_STATUS_BAD_PARAM;
  if (rule->type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (values == nullptr || count < 1 ||
      (rule->count == DnnRule::kOne && count != 1))
    return CUDNN_STATUS_BAD_PARAM;
  DnnAttribute attribute{count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* const others =
        static_cast<const cudnnBackendDescriptor_t*>(values);
    for (std::int64_t i = 0; i < count; ++i) {
      if (others[i] == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      const auto& other = handle_of(others[i]).it;
      if (!other->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
      if (!may_be(name, *other)) return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
      attribute.objects.push_back(other);
    }
  } else {
    const auto* const begin = static_cast<const std::byte*>(values);
    attribute.bytes.assign(
        begin, begin + static_cast<std::size_t>(count) * size_of(type));
  }
  object.attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
  if (const auto failed = cudnn_call("cudnnBackendFinalize")) return failed;
  DnnObject& object = *handle_of(descriptor).it;
  if (object.finalized) return CUDNN_STATUS_BAD_PARAM;
  for (const DnnRule& rule : dnn_rules(object.type))
    if (rule.need == DnnRule::kNeeded && !object.has(rule.name))
      return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = check_object(object);
  object.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

struct Engine {
  std::vector<cudnnBackendNumericalNote_t> notes;
  bool loses_nan = false;
};

// Engines, usable ones at the end. As in cuDNN, none make floats of bfloat16;
// unlike there, none take bfloat16 with one channel a group.
std::vector<Engine> engines_for(const DnnObject& graph) {
  const DnnOperands first =
      operands_of(*graph.objects(CUDNN_ATTR_OPERATIONGRAPH_OPS)[0]);
  const cudnnDataType_t type = first.x->data_type();
  for (const DnnObject* tensor : {first.w, first.y})
    if (!tensor->is_virtual() && tensor->data_type() != type) return {};
  if (type == CUDNN_DATA_BFLOAT16 && first.w->extents()[1] == 1) return {};
  std::vector<Engine> engines = {{{CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
                                   CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}},
                                 {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
                                   CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
                                 {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, true},
                                 {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}}};
  if (type == CUDNN_DATA_FLOAT) engines.emplace_back();
  return engines;
}

std::shared_ptr<DnnObject> make_config(const DnnObject& heuristics,
                                       const Engine& kind) {
  const auto engine = std::make_shared<DnnObject>();
  engine->type = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  engine->notes = kind.notes;
  engine->loses_nan = kind.loses_nan;
  engine->finalized = true;
  engine->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] =
      heuristics.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  const auto config = std::make_shared<DnnObject>();
  config->type = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
  config->finalized = true;
  config->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {1, {}, {engine}};
  return config;
}

// Descriptors of `type` become what was asked for.
cudnnStatus_t give(const DnnObjects& objects, cudnnBackendDescriptorType_t type,
                   std::int64_t most, std::int64_t* count, void* values) {
  *count = static_cast<std::int64_t>(objects.size());
  if (values == nullptr) return CUDNN_STATUS_SUCCESS;
  *count = std::min(*count, most);
  auto* const to = static_cast<cudnnBackendDescriptor_t*>(values);
  for (std::int64_t i = 0; i < *count; ++i) {
    if (to[i] == nullptr || handle_of(to[i]).it->type != type)
      return CUDNN_STATUS_BAD_PARAM;
    handle_of(to[i]).it =
        std::make_shared<DnnObject>(*objects[static_cast<std::size_t>(i)]);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_attribute(cudnnBackendDescriptor_t descriptor,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t most,
                            std::int64_t* count, void* values) {
  if (const auto failed = cudnn_call("cudnnBackendGetAttribute")) return failed;
  const DnnObject& object = *handle_of(descriptor).it;
  if (!object.finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  if (object.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINEHEUR_RESULTS &&
      type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    DnnObjects configs;
    for (const Engine& engine :
         engines_for(object.object(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)))
      configs.push_back(make_config(object, engine));
    return give(configs, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, most, count,
                values);
  }
  if (object.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINECFG_ENGINE &&
      type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    return give(object.objects(name), CUDNN_BACKEND_ENGINE_DESCRIPTOR, most,
                count, values);
  if (object.type == CUDNN_BACKEND_ENGINE_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE &&
      type == CUDNN_TYPE_NUMERICAL_NOTE) {
    *count = std::min(most, static_cast<std::int64_t>(object.notes.size()));
    std::copy_n(object.notes.begin(), *count,
                static_cast<cudnnBackendNumericalNote_t*>(values));
    return CUDNN_STATUS_SUCCESS;
  }
  if (object.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
      name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE &&
      type == CUDNN_TYPE_INT64 && most == 1) {
    *count = 1;
    *static_cast<std::int64_t*>(values) = kWorkspace;
    return CUDNN_STATUS_SUCCESS;
  }
  return CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t execute(cudnnHandle_t dnn, cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t pack) {
  if (const auto failed = cudnn_call("cudnnBackendExecute")) return failed;
  if (dnn == nullptr || plan == nullptr || pack == nullptr)
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const DnnObject& what = *handle_of(plan).it;
  const DnnObject& with = *handle_of(pack).it;
  if (what.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      with.type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  if (!what.finalized || !with.finalized)
    return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  void* const workspace =
      with.has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
          ? with.value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
          : nullptr;
  if (workspace == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (const auto failed = check_plan(what, with)) return failed;
  const auto failed =
      put(library_of(dnn).stream,
          [plan = handle_of(plan).it, pack = handle_of(pack).it, workspace] {
            std::memset(workspace, 0xff, kWorkspace);
            execute_plan(*plan, *pack);
          });
  return failed == cudaSuccess ? CUDNN_STATUS_SUCCESS
                               : CUDNN_STATUS_EXECUTION_FAILED;
}

cudnnStatus_t create(cudnnHandle_t* dnn) {
  *dnn = reinterpret_cast<cudnnHandle_t>(new Library{});
  return cudnn_call("cudnnCreate");
}
cudnnStatus_t destroy(cudnnHandle_t dnn) {
  delete &library_of(dnn);
  return cudnn_call("cudnnDestroy");
}
cudnnStatus_t set_stream(cudnnHandle_t dnn, cudaStream_t stream) {
  library_of(dnn).stream = stream;
  return cudnn_call("cudnnSetStream");
}
const char* error_text(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "no error" : "an emulated failure";
}

}  // namespace

void set_cudnn(Api& api) {
  api.cudnnGetVersion = [] { return std::size_t{CUDNN_VERSION}; };
  api.cudnnGetErrorString = error_text;
  api.cudnnCreate = create;
  api.cudnnDestroy = destroy;
  api.cudnnSetStream = set_stream;
  api.cudnnBackendCreateDescriptor = create_descriptor;
  api.cudnnBackendDestroyDescriptor = destroy_descriptor;
  api.cudnnBackendSetAttribute = set_attribute;
  api.cudnnBackendGetAttribute = get_attribute;
  api.cudnnBackendFinalize = finalize;
  api.cudnnBackendExecute = execute;
}

}  // namespace dl::device::cuda
