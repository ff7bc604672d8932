// Rules of descriptors of cuDNN's graph API: their contents, and how to
// finalize them.  Refused is what cuDNN 9 refuses, and a little more.

#include <algorithm>
#include <set>
#include <utility>

#include "tests/unit/device/emulated/dnn_objects.h"
#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::cuda {
namespace {

using Extents = std::span<const std::int64_t>;

bool all_at_least(Extents values, std::int64_t least) {
  return std::ranges::all_of(values,
                             [=](auto value) { return value >= least; });
}

bool is_operation(cudnnBackendDescriptorType_t type) {
  return type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
         type ==
             CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
}

// Only tensors without gaps are emulated.
bool is_tensor(const DnnObject& t) {
  const Extents extents = t.extents(), strides = t.strides();
  if (extents.empty() || extents.size() != strides.size()) return false;
  if (!all_at_least(extents, 1) || !all_at_least(strides, 1)) return false;
  std::int64_t elements = 1, last = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    elements *= extents[k];
    last += (extents[k] - 1) * strides[k];
  }
  const auto alignment =
      t.value<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  const auto type = t.data_type();
  return last + 1 == elements && alignment > 0 && alignment % 4 == 0 &&
         (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_BFLOAT16);
}

bool is_window(const DnnObject& w) {
  const auto space = static_cast<std::size_t>(
      w.value<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  for (const auto& [name, least] :
       {std::pair{CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1},
        {CUDNN_ATTR_CONVOLUTION_DILATIONS, 1},
        {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0},
        {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0}}) {
    const Extents values = w.values<std::int64_t>(name);
    if (values.size() != space || !all_at_least(values, least)) return false;
  }
  return (space == 2 || space == 3) &&
         w.value<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) ==
             CUDNN_DATA_FLOAT &&
         w.value<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) ==
             CUDNN_CROSS_CORRELATION;
}

bool is_convolution(const DnnOperands& o) {
  const Extents x = o.x->extents(), w = o.w->extents(), y = o.y->extents();
  const auto attribute = [&](cudnnBackendAttributeName_t name) {
    return o.window->values<std::int64_t>(name);
  };
  const Extents stride = attribute(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
                dilation = attribute(CUDNN_ATTR_CONVOLUTION_DILATIONS),
                before = attribute(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
                after = attribute(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  if (x.size() != stride.size() + 2 || w.size() != x.size() ||
      y.size() != x.size())
    return false;
  if (x[0] != y[0] || y[1] != w[0] || x[1] % w[1] != 0 ||
      w[0] % (x[1] / w[1]) != 0)
    return false;
  for (std::size_t k = 0; k < stride.size(); ++k) {
    const std::int64_t room =
        x[2 + k] + before[k] + after[k] - (w[2 + k] - 1) * dilation[k] - 1;
    if (room < 0 || y[2 + k] != room / stride[k] + 1) return false;
  }
  return true;
}

bool is_function(const DnnObject& f) {
  if (is_relu(f))
    return f.has(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) &&
           f.value<cudnnNanPropagation_t>(
               CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) == CUDNN_PROPAGATE_NAN;
  return f.value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE) ==
         CUDNN_POINTWISE_ADD;
}

bool is_pointwise(const DnnObject& operation) {
  const DnnOperands o = operands_of(operation);
  if (o.x->data_type() != CUDNN_DATA_FLOAT) return false;
  const bool takes_b = operation.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  if (takes_b ==
      is_relu(operation.object(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)))
    return false;
  const Extents a = o.x->extents(), b = o.w->extents();
  if (!std::ranges::equal(a, o.y->extents()) || a.size() != b.size())
    return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (b[k] != 1 && b[k] != a[k]) return false;
  return true;
}

// Ids are those of one tensor, what is not in memory is computed before it is
// used, and what is there is of one type.
bool is_graph(const DnnObject& graph) {
  std::map<std::int64_t, const DnnObject*> tensors;
  std::set<std::int64_t> made;
  const auto& operations = graph.objects(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (operations.empty()) return false;
  const auto type = operands_of(*operations[0]).w->data_type();
  for (const auto& operation : operations) {
    const DnnOperands o = operands_of(*operation);
    for (const DnnObject* tensor : {o.x, o.w, o.y}) {
      if (!tensor->is_virtual() && tensor->data_type() != type) return false;
      if (tensors.emplace(tensor->id(), tensor).first->second != tensor)
        return false;
      if (tensor->is_virtual() && tensor != o.result &&
          !made.contains(tensor->id()))
        return false;
    }
    made.insert(o.result->id());
  }
  return true;
}

bool is_pack(const DnnObject& pack) {
  const Extents ids =
      pack.values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  return std::set<std::int64_t>(ids.begin(), ids.end()).size() == ids.size() &&
         pack.values<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size() ==
             ids.size();
}

}  // namespace

// clang-format off
std::span<const DnnRule> dnn_rules(cudnnBackendDescriptorType_t type) {
  static const std::map<cudnnBackendDescriptorType_t, std::vector<DnnRule>> all = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, {
      {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE},
      {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, DnnRule::kMany},
      {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, DnnRule::kMany},
      {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, DnnRule::kOne, DnnRule::kOptional}}},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, {
      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE},
      {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64},
      {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, DnnRule::kMany},
      {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, DnnRule::kMany},
      {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, DnnRule::kMany},
      {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, DnnRule::kMany}}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, {
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT}}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, {
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT}}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, {
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT}}},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, {
      {CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE},
      {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE},
      {CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, DnnRule::kOne, DnnRule::kOptional}}},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, {
      {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, DnnRule::kOne, DnnRule::kOptional},
      {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, {
      {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE},
      {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, DnnRule::kMany}}},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, {
      {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE}}},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, {
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE},
      {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR}}},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, {
      {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, DnnRule::kMany},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, DnnRule::kMany},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, DnnRule::kOne, DnnRule::kOptional}}},
    // Filled by queries alone.
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {}},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, {}},
  };
  const auto found = all.find(type);
  return found == all.end() ? std::span<const DnnRule>() : found->second;
}
// clang-format on

bool may_be(cudnnBackendAttributeName_t name, const DnnObject& object) {
  switch (name) {
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC:
      return object.type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
    case CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR:
      return object.type == CUDNN_BACKEND_POINTWISE_DESCRIPTOR;
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
      return is_operation(object.type);
    case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
      return object.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
    case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
      return object.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
    default:
      return object.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  }
}

cudnnStatus_t check_object(const DnnObject& object) {
  const auto unless_bad = [](bool good) {
    return good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
  };
  switch (object.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return unless_bad(is_tensor(object));
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return unless_bad(is_window(object));
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      return unless_bad(is_function(object));
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return unless_bad(is_pointwise(object));
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      if (!is_graph(object)) return CUDNN_STATUS_BAD_PARAM;
      if (object.objects(CUDNN_ATTR_OPERATIONGRAPH_OPS).size() == 1)
        return CUDNN_STATUS_SUCCESS;
      return static_cast<cudnnStatus_t>(failure_of("fused graph"));
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return static_cast<cudnnStatus_t>(failure_of("heuristics"));
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return static_cast<cudnnStatus_t>(failure_of("execution plan"));
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return unless_bad(is_pack(object));
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return CUDNN_STATUS_NOT_SUPPORTED;
    default:
      return unless_bad(is_convolution(operands_of(object)));
  }
}

}  // namespace dl::device::cuda
