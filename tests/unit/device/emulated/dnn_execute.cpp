// Computes the graphs of cudnn.cpp, naively.

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "tests/unit/device/emulated/dnn_objects.h"
#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/factors.h"

namespace dl::device::cuda {
namespace {

using Extents = std::span<const std::int64_t>;
using DnnPlace = std::array<std::int64_t, CUDNN_DIM_MAX>;

// Calls f(place) for each place of a box, the last extent running fastest.
template <typename F>
void for_each_place(Extents box, F f) {
  DnnPlace at{};
  for (;;) {
    f(at);
    std::size_t k = box.size();
    while (k > 0 && ++at[k - 1] == box[k - 1]) at[--k] = 0;
    if (k == 0) return;
  }
}

// f(x, w, y) for each term x w of a sum y, as offsets.
template <typename F>
void for_each_term(const DnnOperands& o, F f) {
  const auto attribute = [&](cudnnBackendAttributeName_t name) {
    return o.window->values<std::int64_t>(name);
  };
  const Extents stride = attribute(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
                dilation = attribute(CUDNN_ATTR_CONVOLUTION_DILATIONS),
                pad = attribute(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const Extents x = o.x->extents(), w = o.w->extents(), y = o.y->extents();
  const Extents sx = o.x->strides(), sw = o.w->strides(), sy = o.y->strides();
  const std::size_t space = stride.size();
  const std::int64_t channels = w[1];
  const std::int64_t filters = w[0] / (x[1] / channels);  // of a group
  // Batch, filter, output pixel, tap.
  DnnPlace box{y[0], y[1]};
  std::ranges::copy(y.subspan(2), box.begin() + 2);
  std::ranges::copy(w.subspan(2), box.begin() + 2 + space);
  for_each_place({box.data(), 2 + 2 * space}, [&](const DnnPlace& at) {
    std::int64_t to_x = at[0] * sx[0] + at[1] / filters * channels * sx[1];
    std::int64_t to_w = at[1] * sw[0];
    std::int64_t to_y = at[0] * sy[0] + at[1] * sy[1];
    for (std::size_t k = 0; k < space; ++k) {
      const std::int64_t tap = at[2 + space + k];
      const std::int64_t pixel =
          at[2 + k] * stride[k] + tap * dilation[k] - pad[k];
      if (pixel < 0 || pixel >= x[2 + k]) return;
      to_x += pixel * sx[2 + k];
      to_w += tap * sw[2 + k];
      to_y += at[2 + k] * sy[2 + k];
    }
    for (std::int64_t c = 0; c < channels; ++c)
      f(to_x + c * sx[1], to_w + c * sw[1], to_y);
  });
}

std::int64_t elements_of(const DnnObject& tensor) {
  std::int64_t n = 1;
  for (const std::int64_t extent : tensor.extents()) n *= extent;
  return n;
}

double number_of(const DnnObject& tensor, const void* data, std::int64_t i) {
  return factor_at(data,
                   tensor.data_type() == CUDNN_DATA_BFLOAT16
                       ? FactorType::kBfloat16
                       : FactorType::kFloat,
                   i);
}

void put(const DnnObject& tensor, void* data, std::int64_t i, double number) {
  const auto rounded = static_cast<float>(number);
  if (tensor.data_type() == CUDNN_DATA_BFLOAT16)
    static_cast<std::uint16_t*>(data)[i] = as_bfloat16(rounded);
  else
    static_cast<float*>(data)[i] = rounded;
}

void convolve(const DnnOperands& o, FactorType type, void* x, void* w,
              void* y) {
  static std::vector<double> sums;
  sums.assign(static_cast<std::size_t>(elements_of(*o.result)), 0);
  double* const s = sums.data();
  if (o.result == o.y)
    for_each_term(o, [&](auto i, auto j, auto k) {
      s[k] += factor_at(x, type, i) * factor_at(w, type, j);
    });
  else if (o.result == o.x)
    for_each_term(o, [&](auto i, auto j, auto k) {
      s[i] += factor_at(w, type, j) * factor_at(y, type, k);
    });
  else
    for_each_term(o, [&](auto i, auto j, auto k) {
      s[j] += factor_at(x, type, i) * factor_at(y, type, k);
    });
  void* const result = o.result == o.y ? y : o.result == o.x ? x : w;
  for (std::size_t i = 0; i < sums.size(); ++i)
    put(*o.result, result, static_cast<std::int64_t>(i), sums[i]);
}

void apply(const DnnOperands& o, bool loses_nan, void* a, void* b, void* y) {
  const auto offset = [](const DnnObject& tensor, const DnnPlace& at) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < tensor.extents().size(); ++k)
      if (tensor.extents()[k] != 1) sum += at[k] * tensor.strides()[k];
    return sum;
  };
  const auto relu = [=](double x) {
    return x < 0 || (loses_nan && x != x) ? 0 : x;
  };
  for_each_place(o.y->extents(), [&](const DnnPlace& at) {
    const double x = number_of(*o.x, a, offset(*o.x, at));
    put(*o.y, y, offset(*o.y, at),
        o.w == o.x ? relu(x) : x + number_of(*o.w, b, offset(*o.w, at)));
  });
}

// Where the tensor lies; null: nowhere.
void* memory_of(const DnnObject& tensor, const DnnObject& plan,
                const DnnObject& pack) {
  if (tensor.is_virtual()) {
    auto& here = plan.between[tensor.id()];
    here.resize(static_cast<std::size_t>(elements_of(tensor)));
    return here.data();
  }
  const auto ids =
      pack.values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto found = std::ranges::find(ids, tensor.id());
  if (found == ids.end()) return nullptr;
  return pack.values<void*>(
      CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)[static_cast<std::size_t>(
      found - ids.begin())];
}

cudnnStatus_t check_tensor(const DnnObject& tensor, const DnnObject& plan,
                           const DnnObject& pack) {
  void* const memory = memory_of(tensor, plan, pack);
  if (memory == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (tensor.is_virtual()) return CUDNN_STATUS_SUCCESS;
  const auto alignment = static_cast<std::uintptr_t>(
      tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
    return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
  const auto bytes = static_cast<std::size_t>(elements_of(tensor)) *
                     (tensor.data_type() == CUDNN_DATA_FLOAT ? 4 : 2);
  return lies_on_gpu(memory, bytes) ? CUDNN_STATUS_SUCCESS
                                    : CUDNN_STATUS_EXECUTION_FAILED;
}

const DnnObject& engine_of(const DnnObject& plan) {
  return plan.object(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
      .object(CUDNN_ATTR_ENGINECFG_ENGINE);
}
const DnnObjects& operations_of(const DnnObject& plan) {
  return engine_of(plan)
      .object(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)
      .objects(CUDNN_ATTR_OPERATIONGRAPH_OPS);
}

// Type that an engine turns factors into; nothing: it is not to be used.
std::optional<FactorType> factors_of(const DnnObject& engine,
                                     const DnnOperands& o) {
  const bool tensor_cores = !engine.notes.empty();
  for (const auto note : engine.notes)
    if (note != CUDNN_NUMERICAL_NOTE_TENSOR_CORE) return {};
  if (o.x->data_type() == CUDNN_DATA_BFLOAT16) return FactorType::kBfloat16;
  return tensor_cores ? FactorType::kTf32 : FactorType::kFloat;
}

}  // namespace

DnnOperands operands_of(const DnnObject& o) {
  switch (o.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: {
      const auto& y = o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
      return {&o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X),
              &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W), &y, &y,
              &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC)};
    }
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: {
      const auto& x = o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
      return {&x, &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W),
              &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY), &x,
              &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC)};
    }
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: {
      const auto& w = o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
      return {&o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X), &w,
              &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY), &w,
              &o.object(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC)};
    }
    default: {
      const auto& y = o.object(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
      const auto& x = o.object(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
      return {&x,
              o.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)
                  ? &o.object(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)
                  : &x,
              &y, &y, nullptr};
    }
  }
}

bool is_relu(const DnnObject& pointwise) {
  return pointwise.value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE) ==
         CUDNN_POINTWISE_RELU_FWD;
}

cudnnStatus_t check_plan(const DnnObject& plan, const DnnObject& pack) {
  for (const auto& operation : operations_of(plan)) {
    const DnnOperands o = operands_of(*operation);
    if (!factors_of(engine_of(plan), o)) return CUDNN_STATUS_EXECUTION_FAILED;
    for (const DnnObject* const tensor : {o.x, o.w, o.y})
      if (const auto failed = check_tensor(*tensor, plan, pack)) return failed;
  }
  return CUDNN_STATUS_SUCCESS;
}

void execute_plan(const DnnObject& plan, const DnnObject& pack) {
  for (const auto& operation : operations_of(plan)) {
    const DnnOperands o = operands_of(*operation);
    void *const x = memory_of(*o.x, plan, pack),
                *const w = memory_of(*o.w, plan, pack),
                *const y = memory_of(*o.y, plan, pack);
    if (o.window != nullptr)
      convolve(o, *factors_of(engine_of(plan), o), x, w, y);
    else
      apply(o, engine_of(plan).loses_nan, x, w, y);
  }
}

}  // namespace dl::device::cuda
