// Convolution of images and volumes, by cuDNN.

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/conv2d_then_max_pool.h"
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
    if (b.empty()) return compute(Work::kForward, batch, {x, w, y});
    if (try_compute(Work::kForwardWithBias, batch, {x, w, b, y})) return;
    compute(Work::kForward, batch, {x, w, y});
    device_.add_bias(y, b);
  }

  void backward_data(View dx, View dy, View w) override {
    compute(Work::kBackwardData, check(dx, dy, w, {}), {dx, w, dy});
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    compute(Work::kBackwardWeights, check(x, dy, dw, db), {x, dw, dy});
    if (!db.empty()) device_.sum_rows(db, dy);
  }

 private:
  using Tensors = std::initializer_list<View>;

  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals(DType::kF32, {x, y});
    check_weights(DType::kF32, spec_, w, b);
    return check_images(spec_, max_batch_, x, y);
  }

  std::optional<DnnPlan> make_plan(Work work, std::int64_t batch,
                                   std::int64_t alignment) const {
    DnnGraph graph(dnn_, alignment);
    const Extents out = extents_of(batch, spec_.filters, out_space(spec_));
    const bool bias = work == Work::kForwardWithBias;
    const auto x =
        graph.add_tensor(extents_of(batch, spec_.channels, in_space(spec_)));
    const auto w = graph.add_tensor(extents_of(
        spec_.filters, spec_.channels / spec_.groups, all_of(spec_.kernel)));
    const auto y = graph.add_tensor(out, bias);
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

  // False: cuDNN cannot.
  bool try_compute(Work work, std::int64_t batch, Tensors tensors) {
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
    if (!found->second) return false;
    found->second->run({places.data(), n});
    return true;
  }

  void compute(Work work, std::int64_t batch, Tensors tensors) {
    if (!try_compute(work, batch, tensors))
      throw Error{Code::kUnavailable,
                  device_.name() + ": cuDNN has no such convolution"};
  }

  CudaDevice& device_;
  Dnn& dnn_;
  Spec spec_;
  std::int64_t max_batch_;
  // By batch, and whether all views are aligned; empty where cuDNN has none.
  std::map<std::tuple<Work, std::int64_t, bool>, std::optional<DnnPlan>> plans_;
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
