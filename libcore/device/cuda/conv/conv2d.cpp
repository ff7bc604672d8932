// Convolution of images and volumes, by cuDNN where tensor cores compute it,
// and else by own kernels.
//
// With bfloat16, what is multiplied is bfloat16, and so is the result, which
// cuDNN has no more digits of then; its sums are float32.  Where it has no such
// engine for bfloat16, it computes with floats in TF32.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/cuda/conv/conv_axes.h"
#include "libcore/device/cuda/conv/exact_conv.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/runtime/dnn_graph.h"

namespace dl::device::cuda {
namespace {
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

// Extents of a tensor, in cuDNN's order.
Extents extents_of(std::int64_t n, std::int64_t channels,
                   const Extents& space) {
  Extents all = {n, channels};
  all.insert(all.end(), space.begin(), space.end());
  return all;
}

enum class Work {
  kForward,
  kForwardWithBias,
  kForwardWithBiasAndRelu,
  kBackwardData,
  kBackwardWeights
};

DnnConvolution convolution_of(Work work) {
  if (work == Work::kBackwardData) return DnnConvolution::kBackwardData;
  if (work == Work::kBackwardWeights) return DnnConvolution::kBackwardWeights;
  return DnnConvolution::kForward;
}

// Engines load so many bytes at once; views may begin at any number.
constexpr std::size_t kAligned = 16;

template <typename Spec>
class GpuConv final : public Conv2d {
 public:
  GpuConv(CudaDevice& device, Dnn& dnn, const Spec& spec,
          std::int64_t max_batch)
      : device_(device), dnn_(dnn), spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
  }

  void forward(View y, View x, View w, View b) override {
    compute_forward(y, x, w, b, {});
  }

  bool forward_activated(View y, View x, View w, View b,
                         const ActivationSpec& f) override {
    compute_forward(y, x, w, b, f);
    return true;
  }

  void backward_data(View dx, View dy, View w) override {
    compute(Work::kBackwardData, check(dx, dy, w, {}), {dx, w, dy, {}});
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    compute(Work::kBackwardWeights, check(x, dy, dw, db), {x, dw, dy, {}});
    if (!db.empty()) device_.sum_rows(db, dy);
  }

 private:
  // x, w and y, or their gradients; what is added, if anything.
  using Tensors = std::array<View, 4>;
  struct Planned {
    std::optional<DnnPlan> plan;  // none: cuDNN cannot
    DType type = DType::kF32;     // of the tensors
  };

  // To bfloat16 cuDNN adds but a bias of bfloat16, which saves nothing where
  // the activation is one more pass.
  void compute_forward(View y, View x, View w, View b,
                       const ActivationSpec& f) {
    const std::int64_t batch = check(x, y, w, b);
    const bool one_pass = f.kind == Activation::kIdentity ||
                          dnn_.precision() != Precision::kBfloat16;
    if (f.kind == Activation::kRelu && !b.empty() &&
        try_compute(Work::kForwardWithBiasAndRelu, batch, {x, w, y, b}))
      return;
    if (!b.empty() && one_pass &&
        try_compute(Work::kForwardWithBias, batch, {x, w, y, b}))
      return device_.activate(f, y, y);
    compute(Work::kForward, batch, {x, w, y, {}});
    if (b.empty())
      device_.activate(f, y, y);
    else
      device_.add_bias_and_activate(y, b, f);
  }

  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals({x, y});
    check_weights(kReals, spec_, w, b);
    return check_images(spec_, max_batch_, x, y);
  }

  Planned make_plan(Work work, std::int64_t batch, const Tensors& tensors) {
    if (dnn_.precision() == Precision::kBfloat16)
      if (auto plan = make_plan(work, batch, DType::kBF16, tensors);
          plan || !tensors[3].empty())  // bias by itself is better than TF32
        return {std::move(plan), DType::kBF16};
    return {make_plan(work, batch, DType::kF32, tensors), DType::kF32};
  }

  std::optional<DnnPlan> make_plan(Work work, std::int64_t batch, DType dtype,
                                   const Tensors& tensors) {
    const auto type =
        dtype == DType::kBF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    DnnGraph graph(dnn_, kAligned);
    const Extents out = extents_of(batch, spec_.filters, out_space(spec_));
    const bool relu = work == Work::kForwardWithBiasAndRelu,
               bias = relu || work == Work::kForwardWithBias;
    const auto x = graph.add_tensor(
        extents_of(batch, spec_.channels, in_space(spec_)), type);
    const auto w = graph.add_tensor(
        extents_of(spec_.filters, spec_.channels / spec_.groups,
                   all_of(spec_.kernel)),
        type);
    const auto y = graph.add_tensor(out, type);
    const auto product = bias ? graph.add_between(out) : y,
               sum = relu ? graph.add_between(out) : y;
    graph.convolve(convolution_of(work),
                   {all_of(spec_.stride), all_of(spec_.dilation),
                    all_of(spec_.pad_begin), all_of(spec_.pad_end)},
                   x, w, product);
    if (bias)
      graph.add(
          sum, product,
          graph.add_tensor(
              extents_of(1, spec_.filters, Extents(out.size() - 2, 1)), type));
    if (!relu) return graph.plan();
    graph.relu(y, sum);
    return graph.plan(
        [&](DnnPlan& plan) { return is_fit(plan, dtype, work, tensors); });
  }

  // On an H100 some engines make 0 of NaN, of those that are offered for
  // bfloat16 where NaN was asked to stay; and a network that diverges would
  // train on as if nothing had been.  So each is tried, with the tensors that
  // it is wanted for, whose y has no content yet.  One that fails, as for want
  // of memory, is none either; what is wrong with the GPU, the next one meets.
  bool is_fit(DnnPlan& plan, DType type, Work work, const Tensors& tensors) {
    dnn_.stream().handle();  // what was put off fails on its own account
    try {
      if (keeps_nan(plan, type, work, tensors)) return true;
    } catch (const Error& error) {
      if (error.code() != Code::kUnavailable) throw;
    }
    dnn_.give_back_workspace();
    return false;
  }

  bool keeps_nan(DnnPlan& plan, DType type, Work work, Tensors tensors) {
    const auto bias = device_.allocate(tensors[3].shape);
    device_.fill(bias->view(), std::numeric_limits<double>::quiet_NaN());
    tensors[3] = bias->view();
    run(plan, type, work, tensors);
    tensor::Tensor pixel;
    device_.download(pixel, tensors[2].at(0, tensors[3].shape));
    const auto values = std::as_const(pixel).as<float>();
    return std::ranges::all_of(values, [](float y) { return std::isnan(y); });
  }

  static std::size_t result_of(Work work) {
    if (work == Work::kBackwardData) return 0;
    return work == Work::kBackwardWeights ? 1 : 2;
  }

  static bool serves(const View& view, DType type) {
    return view.dtype == type &&
           reinterpret_cast<std::uintptr_t>(view.data) % kAligned == 0;
  }

  // compute(), with what is not where it is to be used brought there and back.
  template <class F>
  void compute_in(const Tensors& used, const Tensors& tensors, Work work,
                  const F& compute) {
    const std::size_t result = result_of(work);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (i != result && used[i].data != tensors[i].data)
        device_.copy(used[i], tensors[i]);
    compute();
    if (used[result].data != tensors[result].data)
      device_.copy(tensors[result], used[result]);
  }

  // Values of another type, or unaligned, are computed in scratch memory.
  void run(DnnPlan& plan, DType type, Work work, const Tensors& tensors) {
    std::size_t bytes = 0;
    const auto room_for = [&](const View& view) {
      const auto size =
          static_cast<std::size_t>(view.elements()) * size_of(type);
      return (size + kAligned - 1) / kAligned * kAligned;
    };
    for (const View& view : tensors)
      if (!view.empty() && !serves(view, type)) bytes += room_for(view);
    auto* room =
        dnn_.stream().scratch<std::byte>(static_cast<std::int64_t>(bytes));
    Tensors used = tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].empty() || serves(tensors[i], type)) continue;
      used[i] = {room, type, tensors[i].shape};
      room += room_for(tensors[i]);
    }
    compute_in(used, tensors, work, [&] {
      const std::array<void*, 4> places{used[0].data, used[1].data,
                                        used[2].data, used[3].data};
      plan.run({places.data(), used[3].empty() ? 3U : 4U});
    });
  }

  // With few channels cuDNN has only slow engines for TF32: a gradient of
  // weights of the first layer took as long as that of the largest.
  bool better_exactly(Work work) const {
    const Conv3dSpec s = volume_of(spec_);
    return work == Work::kBackwardWeights &&
           dnn_.precision() == Precision::kTf32 &&
           has_few_channels(axes_of(s), narrow(s.channels), narrow(s.groups));
  }

  // False: cuDNN cannot.
  bool try_compute(Work work, std::int64_t batch, const Tensors& tensors) {
    const std::pair key(work, batch);
    auto found = plans_.find(key);
    if (found == plans_.end())
      found = plans_.emplace(key, make_plan(work, batch, tensors)).first;
    Planned& planned = found->second;
    if (!planned.plan) return false;
    run(*planned.plan, planned.type, work, tensors);
    return true;
  }

  void compute(Work work, std::int64_t batch, const Tensors& tensors) {
    if (better_exactly(work) || !try_compute(work, batch, tensors))
      compute_exactly(work, tensors);
  }

  void compute_exactly(Work work, const Tensors& tensors) {
    if (!exact_) exact_ = exact_conv(device_, spec_, max_batch_);
    Tensors used = tensors;
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      if (tensors[i].dtype == DType::kF32) continue;
      auto& room = rooms_[i];
      if (!room || room->view().elements() < tensors[i].elements())
        room = device_.allocate(tensors[i].shape);
      used[i] = room->view().at(0, tensors[i].shape);
    }
    compute_in(used, tensors, work, [&] {
      if (work == Work::kBackwardData)
        exact_->backward_data(used[0], used[2], used[1]);
      else if (work == Work::kBackwardWeights)
        exact_->backward_weights(used[1], {}, used[0], used[2]);
      else
        exact_->forward(used[2], used[0], used[1], {});
    });
  }

  CudaDevice& device_;
  Dnn& dnn_;
  Spec spec_;
  std::int64_t max_batch_;
  std::map<std::pair<Work, std::int64_t>, Planned> plans_;  // by batch
  // Fallback for convolutions that cuDNN cannot compute, and its floats.
  std::unique_ptr<Conv2d> exact_;
  std::array<std::unique_ptr<tensor::Buffer>, 3> rooms_;
};

}  // namespace

std::unique_ptr<Conv2d> CudaDevice::conv2d(const Conv2dSpec& spec,
                                           std::int64_t max_batch) {
  if (dnn_.precision() == Precision::kFloat32)
    return exact_conv(*this, spec, max_batch);
  return std::make_unique<GpuConv<Conv2dSpec>>(*this, dnn_, spec, max_batch);
}

std::unique_ptr<Conv3d> CudaDevice::conv3d(const Conv3dSpec& spec,
                                           std::int64_t max_batch) {
  if (dnn_.precision() == Precision::kFloat32)
    return exact_conv(*this, spec, max_batch);
  return std::make_unique<GpuConv<Conv3dSpec>>(*this, dnn_, spec, max_batch);
}

}  // namespace dl::device::cuda
