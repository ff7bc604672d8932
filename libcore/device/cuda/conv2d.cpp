// Convolution of images and volumes, by cuDNN.
//
// With bfloat16 the factors are cast, and so is the result, which cuDNN has no
// more digits of then; its sums are float32.  What it has no engine for, it
// computes of the floats with TF32.

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/conv2d_then_max_pool.h"
#include "libcore/device/cuda/cast.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/dnn_graph.h"

namespace dl::device::cuda {
namespace {

using tensor::Conv2dSpec;
using tensor::Conv3dSpec;
using tensor::DType;
using tensor::View;
using Extents = std::vector<std::int64_t>;

Extents in_space(const Conv2dSpec& s) { return {s.height, s.width}; }
Extents in_space(const Conv3dSpec& s) { return {s.depth, s.height, s.width}; }
Extents out_space(const Conv2dSpec& s) {
  return {s.out_height(), s.out_width()};
}
Extents out_space(const Conv3dSpec& s) {
  return {s.out_depth(), s.out_height(), s.out_width()};
}

template <std::size_t n>
Extents all_of(const std::int64_t (&values)[n]) {
  return {values, values + n};
}

// Of a tensor, in cuDNN's order.
Extents extents_of(std::int64_t n, std::int64_t channels,
                   const Extents& space) {
  Extents all = {n, channels};
  all.insert(all.end(), space.begin(), space.end());
  return all;
}

enum class Work { kForward, kForwardWithBias, kBackwardData, kBackwardWeights };

DnnConvolution convolution_of(Work work) {
  if (work == Work::kBackwardData) return DnnConvolution::kBackwardData;
  if (work == Work::kBackwardWeights) return DnnConvolution::kBackwardWeights;
  return DnnConvolution::kForward;
}

// Fast engines load so many bytes at once; views may begin at any float.
constexpr std::uintptr_t kAligned = 16;

template <typename Spec>
class GpuConv final : public tensor::Conv2d {
 public:
  GpuConv(CudaDevice& device, Dnn& dnn, const Spec& spec,
          std::int64_t max_batch)
      : device_(device), dnn_(dnn), spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
  }

  void forward(View y, View x, View w, View b) override {
    const std::int64_t batch = check(x, y, w, b);
    if (!b.empty() && dnn_.precision() != tensor::Precision::kBfloat16 &&
        try_compute(Work::kForwardWithBias, batch, {x, w, b, y}, {}))
      return;
    compute(Work::kForward, batch, {x, w, y}, b);
  }

  void backward_data(View dx, View dy, View w) override {
    compute(Work::kBackwardData, check(dx, dy, w, {}), {dx, w, dy});
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    compute(Work::kBackwardWeights, check(x, dy, dw, db), {x, dw, dy});
    if (!db.empty()) device_.sum_rows(db, dy);
  }

 private:
  // x, w, with kForwardWithBias the bias, and y.
  using Tensors = std::initializer_list<View>;
  struct Planned {
    std::optional<DnnPlan> plan;  // none: cuDNN cannot
    bool casts = false;
  };

  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals(DType::kF32, {x, y});
    check_weights(DType::kF32, spec_, w, b);
    return check_images(spec_, max_batch_, x, y);
  }

  Planned make_plan(Work work, std::int64_t batch,
                    std::int64_t alignment) const {
    if (dnn_.precision() == tensor::Precision::kBfloat16)
      if (auto plan = make_plan(work, batch, alignment, CUDNN_DATA_BFLOAT16))
        return {std::move(plan), true};
    return {make_plan(work, batch, alignment, CUDNN_DATA_FLOAT), false};
  }

  std::optional<DnnPlan> make_plan(Work work, std::int64_t batch,
                                   std::int64_t alignment,
                                   cudnnDataType_t type) const {
    DnnGraph graph(dnn_, alignment);
    const Extents out = extents_of(batch, spec_.filters, out_space(spec_));
    const bool bias = work == Work::kForwardWithBias;
    const auto x = graph.add_tensor(
        extents_of(batch, spec_.channels, in_space(spec_)), type);
    const auto w = graph.add_tensor(
        extents_of(spec_.filters, spec_.channels / spec_.groups,
                   all_of(spec_.kernel)),
        type);
    const auto y = bias ? graph.add_between(out) : graph.add_tensor(out, type);
    graph.convolve(convolution_of(work),
                   {all_of(spec_.stride), all_of(spec_.dilation),
                    all_of(spec_.pad_begin), all_of(spec_.pad_end)},
                   x, w, y);
    if (bias) {
      const auto b = graph.add_tensor(
          extents_of(1, spec_.filters, Extents(out.size() - 2, 1)));
      graph.add(graph.add_tensor(out), y, b);
    }
    return graph.plan();
  }

  // Of x, w and y.
  static std::size_t result_of(Work work) {
    if (work == Work::kBackwardData) return 0;
    return work == Work::kBackwardWeights ? 1 : 2;
  }

  // bias: is added to y, or empty.
  void run_cast(DnnPlan& plan, Work work, Tensors tensors, const View& bias) {
    Stream& stream = dnn_.stream();
    std::int64_t elements = 0;
    for (const View& view : tensors) elements += cast_elements(view.elements());
    auto* room = stream.scratch<Bfloat16>(elements);
    std::array<void*, 3> places{};
    for (std::size_t i = 0; i < 3; ++i) {
      const View& view = tensors.begin()[i];
      places[i] = room;
      if (i != result_of(work))
        cast(stream, room, view.as<float>(), view.elements());
      room += cast_elements(view.elements());
    }
    plan.run(places);
    const View& result = tensors.begin()[result_of(work)];
    widen(stream, result.as<float>(),
          static_cast<const Bfloat16*>(places[result_of(work)]),
          result.elements(), bias.as<float>(), spec_.filters);
  }

  // False: cuDNN cannot.
  bool try_compute(Work work, std::int64_t batch, Tensors tensors,
                   const View& bias) {
    std::array<void*, 4> places{};
    std::size_t n = 0;
    std::uintptr_t addresses = 0;
    for (const View& view : tensors) {
      places[n++] = view.data;
      addresses |= reinterpret_cast<std::uintptr_t>(view.data);
    }
    const bool aligned = addresses % kAligned == 0;
    const std::tuple key(work, batch, aligned);
    auto found = plans_.find(key);
    if (found == plans_.end())
      found = plans_
                  .emplace(key, make_plan(work, batch,
                                          aligned ? kAligned : sizeof(float)))
                  .first;
    Planned& planned = found->second;
    if (!planned.plan) return false;
    if (planned.casts) {
      run_cast(*planned.plan, work, tensors, bias);
      return true;
    }
    planned.plan->run({places.data(), n});
    if (!bias.empty()) device_.add_bias(tensors.begin()[2], bias);
    return true;
  }

  void compute(Work work, std::int64_t batch, Tensors tensors,
               const View& bias = {}) {
    if (!try_compute(work, batch, tensors, bias))
      throw Error{Code::kUnavailable,
                  device_.name() + ": cuDNN has no such convolution"};
  }

  CudaDevice& device_;
  Dnn& dnn_;
  Spec spec_;
  std::int64_t max_batch_;
  // By batch, and whether all views are aligned.
  std::map<std::tuple<Work, std::int64_t, bool>, Planned> plans_;
};

}  // namespace

std::unique_ptr<tensor::Conv2d> CudaDevice::conv2d(const Conv2dSpec& spec,
                                                   std::int64_t max_batch) {
  return std::make_unique<GpuConv<Conv2dSpec>>(*this, dnn_, spec, max_batch);
}

std::unique_ptr<tensor::Conv3d> CudaDevice::conv3d(const Conv3dSpec& spec,
                                                   std::int64_t max_batch) {
  return std::make_unique<GpuConv<Conv3dSpec>>(*this, dnn_, spec, max_batch);
}

std::unique_ptr<tensor::Conv2d> CudaDevice::conv2d_max_pool(
    const Conv2dSpec& spec, std::int64_t max_batch) {
  return conv2d_then_max_pool(*this, spec, max_batch);
}

}  // namespace dl::device::cuda
