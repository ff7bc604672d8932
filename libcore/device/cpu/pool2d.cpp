// Pooling by oneDNN, which remembers where each maximum came from in a
// workspace.  Primitives are made for a batch size, at its first use.

#include <map>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/onednn.h"

namespace dl::device {
namespace {

using dnnl::memory;
using tensor::DType;
using tensor::Pool2dSpec;
using tensor::Pooling;
using tensor::View;

// Primitives for one batch size; backward only for training.
struct Plan {
  Plan(const Pool2dSpec& s, std::int64_t batch, bool training, OneDnn& dnn) {
    const memory::desc x_desc({batch, s.channels, s.height, s.width},
                              memory::data_type::f32, memory::format_tag::nhwc);
    const memory::desc y_desc(
        {batch, s.channels, s.out_height(), s.out_width()},
        memory::data_type::f32, memory::format_tag::nhwc);
    const auto algorithm = s.kind == Pooling::kMax
                               ? dnnl::algorithm::pooling_max
                               : dnnl::algorithm::pooling_avg_exclude_padding;
    const auto kind = training ? dnnl::prop_kind::forward_training
                               : dnnl::prop_kind::forward_inference;
    const memory::dims stride{s.stride[0], s.stride[1]};
    const memory::dims kernel{s.kernel[0], s.kernel[1]};
    const memory::dims begin{s.pad_begin[0], s.pad_begin[1]};
    const memory::dims end{s.pad_end[0], s.pad_end[1]};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

    const dnnl::pooling_forward::primitive_desc there(
        {kind, algorithm, x_desc, y_desc, stride, kernel, begin, end},
        attributes, dnn.engine);
    forward = dnnl::pooling_forward(there);
    x = borrowed(x_desc, dnn);
    y = borrowed(y_desc, dnn);
    workspace = owned(there.workspace_desc(), dnn);
    forward_scratch = borrowed(there.scratchpad_desc(), dnn);
    dnn.reserve_scratch(there.scratchpad_desc().get_size());
    if (!training) return;

    const dnnl::pooling_backward::primitive_desc back(
        {algorithm, x_desc, y_desc, stride, kernel, begin, end}, attributes,
        dnn.engine, there);
    backward = dnnl::pooling_backward(back);
    backward_scratch = borrowed(back.scratchpad_desc(), dnn);
    dnn.reserve_scratch(back.scratchpad_desc().get_size());
  }

  dnnl::pooling_forward forward;
  dnnl::pooling_backward backward;
  memory x, y, workspace, forward_scratch, backward_scratch;
};

class CpuPool2d final : public tensor::Pool2d {
 public:
  CpuPool2d(const Pool2dSpec& spec, std::int64_t max_batch, OneDnn& dnn)
      : spec_(spec), max_batch_(max_batch), dnn_(dnn) {
    check_spec(spec, max_batch);
  }

  void forward(View y, View x, bool training) override {
    check_reals(DType::kF32, {x, y});
    const std::int64_t batch = check_images(spec_, max_batch_, x, y);
    Plan& plan = find(batch, training);
    if (training) trained_ = &plan;
    plan.x.set_data_handle(x.data);
    plan.y.set_data_handle(y.data);
    plan.forward_scratch.set_data_handle(dnn_.scratch.bytes().data());
    execute(plan.forward, dnn_,
            {{DNNL_ARG_SRC, plan.x},
             {DNNL_ARG_DST, plan.y},
             {DNNL_ARG_WORKSPACE, plan.workspace},
             {DNNL_ARG_SCRATCHPAD, plan.forward_scratch}});
  }

  void backward(View dx, View dy) override {
    check_reals(DType::kF32, {dx, dy});
    const std::int64_t batch = check_images(spec_, max_batch_, dx, dy);
    Plan& plan = find(batch, true);
    require(trained_ == &plan, "pooling backward without its forward");
    plan.x.set_data_handle(dx.data);
    plan.y.set_data_handle(dy.data);
    plan.backward_scratch.set_data_handle(dnn_.scratch.bytes().data());
    execute(plan.backward, dnn_,
            {{DNNL_ARG_DIFF_SRC, plan.x},
             {DNNL_ARG_DIFF_DST, plan.y},
             {DNNL_ARG_WORKSPACE, plan.workspace},
             {DNNL_ARG_SCRATCHPAD, plan.backward_scratch}});
  }

 private:
  using Key = std::pair<std::int64_t, bool>;  // batch, training

  Plan& find(std::int64_t batch, bool training) {
    const Key key{batch, training};
    const auto it = plans_.find(key);
    if (it != plans_.end()) return it->second;
    return with_onednn([&]() -> Plan& {
      return plans_.emplace(key, Plan(spec_, batch, training, dnn_))
          .first->second;
    });
  }

  Pool2dSpec spec_;
  std::int64_t max_batch_;
  OneDnn& dnn_;
  std::map<Key, Plan> plans_;
  const Plan* trained_ = nullptr;  // of the last forward() for training
};

}  // namespace

std::unique_ptr<tensor::Pool2d> CpuDevice::pool2d(const Pool2dSpec& spec,
                                                  std::int64_t max_batch) {
  return std::make_unique<CpuPool2d>(spec, max_batch, *dnn_);
}

}  // namespace dl::device
