// Convolution of images and volumes, by cuDNN where tensor cores compute it,
// and else by own kernels.
//
// With bfloat16, what is multiplied is bfloat16, and so is the result, which
// cuDNN has no more digits of then; its sums are float32.  What it has no such
// engine for with bfloat16, it computes of floats with TF32.

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/cuda/conv_axes.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/dnn_graph.h"
#include "libcore/device/cuda/exact_conv.h"
#include "libcore/device/cuda/reals.h"

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

// Engines load so many bytes at once; views may begin at any number.
constexpr std::size_t kAligned = 16;

template <typename Spec>
class GpuConv final : public tensor::Conv2d {
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
                         const tensor::ActivationSpec& f) override {
    compute_forward(y, x, w, b, f);
    return true;
  }

  void backward_data(View dx, View dy, View w) override {
    compute(Work::kBackwardData, check(dx, dy, w, {}), {dx, w, dy});
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    compute(Work::kBackwardWeights, check(x, dy, dw, db), {x, dw, dy});
    if (!db.empty()) device_.sum_rows(db, dy);
  }

 private:
  using Tensors = std::array<View, 3>;  // x, w and y, or their gradients
  struct Planned {
    std::optional<DnnPlan> plan;  // none: cuDNN cannot
    DType type = DType::kF32;     // of the tensors
  };

  // To bfloat16 cuDNN adds but a bias of bfloat16, which would save nothing
  // where the activation is one more pass.  Its own relu is not taken: none of
  // its engines on tensor cores says that NaN stays NaN (STRICT_NAN_PROP).
  void compute_forward(View y, View x, View w, View b,
                       const tensor::ActivationSpec& f) {
    const std::int64_t batch = check(x, y, w, b);
    if (!b.empty() && dnn_.precision() != tensor::Precision::kBfloat16 &&
        try_compute(Work::kForwardWithBias, batch, {x, w, y}, b))
      return device_.activate(f, y, y);
    compute(Work::kForward, batch, {x, w, y});
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

  Planned make_plan(Work work, std::int64_t batch) const {
    if (dnn_.precision() == tensor::Precision::kBfloat16)
      if (auto plan = make_plan(work, batch, CUDNN_DATA_BFLOAT16))
        return {std::move(plan), DType::kBF16};
    return {make_plan(work, batch, CUDNN_DATA_FLOAT), DType::kF32};
  }

  std::optional<DnnPlan> make_plan(Work work, std::int64_t batch,
                                   cudnnDataType_t type) const {
    DnnGraph graph(dnn_, kAligned);
    const Extents out = extents_of(batch, spec_.filters, out_space(spec_));
    const bool bias = work == Work::kForwardWithBias;
    const auto x = graph.add_tensor(
        extents_of(batch, spec_.channels, in_space(spec_)), type);
    const auto w = graph.add_tensor(
        extents_of(spec_.filters, spec_.channels / spec_.groups,
                   all_of(spec_.kernel)),
        type);
    const auto y = graph.add_tensor(out, type);
    const auto sum = bias ? graph.add_between(out) : y;
    graph.convolve(convolution_of(work),
                   {all_of(spec_.stride), all_of(spec_.dilation),
                    all_of(spec_.pad_begin), all_of(spec_.pad_end)},
                   x, w, sum);
    if (bias)
      graph.add(y, sum,
                graph.add_tensor(
                    extents_of(1, spec_.filters, Extents(out.size() - 2, 1))));
    return graph.plan();
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

  // What is of another type, or not aligned, is computed in scratch memory.
  void run(DnnPlan& plan, DType type, Work work, const Tensors& tensors,
           const View& bias) {
    std::size_t bytes = 0;
    const auto room_for = [&](const View& view) {
      const auto size =
          static_cast<std::size_t>(view.elements()) * size_of(type);
      return (size + kAligned - 1) / kAligned * kAligned;
    };
    for (const View& view : tensors)
      if (!serves(view, type)) bytes += room_for(view);
    auto* room =
        dnn_.stream().scratch<std::byte>(static_cast<std::int64_t>(bytes));
    Tensors used = tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (serves(tensors[i], type)) continue;
      used[i] = {room, type, tensors[i].shape};
      room += room_for(tensors[i]);
    }
    compute_in(used, tensors, work, [&] {
      std::array<void*, 4> places{used[0].data, used[1].data, used[2].data,
                                  bias.data};
      plan.run({places.data(), bias.empty() ? 3U : 4U});
    });
  }

  // Of few channels it has but slow engines with TF32: a gradient of weights of
  // the first layer took as long as that of the largest.
  bool better_exactly(Work work) const {
    const tensor::Conv3dSpec s = tensor::volume_of(spec_);
    return work == Work::kBackwardWeights &&
           dnn_.precision() == tensor::Precision::kTf32 &&
           has_few_channels(axes_of(s), narrow(s.channels), narrow(s.groups));
  }

  // False: cuDNN cannot.
  bool try_compute(Work work, std::int64_t batch, const Tensors& tensors,
                   const View& bias) {
    if (!bias.empty() && !serves(bias, DType::kF32)) return false;
    const std::pair key(work, batch);
    auto found = plans_.find(key);
    if (found == plans_.end())
      found = plans_.emplace(key, make_plan(work, batch)).first;
    Planned& planned = found->second;
    if (!planned.plan) return false;
    run(*planned.plan, planned.type, work, tensors, bias);
    return true;
  }

  void compute(Work work, std::int64_t batch, const Tensors& tensors) {
    if (better_exactly(work) || !try_compute(work, batch, tensors, {}))
      compute_exactly(work, tensors);
  }

  void compute_exactly(Work work, const Tensors& tensors) {
    if (!exact_) exact_ = exact_conv(device_, spec_, max_batch_);
    Tensors used = tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
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
  // Of what cuDNN cannot, and its floats.
  std::unique_ptr<tensor::Conv2d> exact_;
  std::array<std::unique_ptr<tensor::Buffer>, 3> rooms_;
};

}  // namespace

std::unique_ptr<tensor::Conv2d> CudaDevice::conv2d(const Conv2dSpec& spec,
                                                   std::int64_t max_batch) {
  if (dnn_.precision() == tensor::Precision::kFloat32)
    return exact_conv(*this, spec, max_batch);
  return std::make_unique<GpuConv<Conv2dSpec>>(*this, dnn_, spec, max_batch);
}

std::unique_ptr<tensor::Conv3d> CudaDevice::conv3d(const Conv3dSpec& spec,
                                                   std::int64_t max_batch) {
  if (dnn_.precision() == tensor::Precision::kFloat32)
    return exact_conv(*this, spec, max_batch);
  return std::make_unique<GpuConv<Conv3dSpec>>(*this, dnn_, spec, max_batch);
}

}  // namespace dl::device::cuda
