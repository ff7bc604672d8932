// Convolution of images and volumes by oneDNN.  Its fast kernels want weights
// in blocks of their own making, so weights are reordered on the way in and
// gradients on the way out; that is a hundredth of the work or less. Primitives
// are made for a batch size, at its first use.
//
// Small kernels of stride 1 go by winograd.h, twice as fast.
//
// Frozen by oneDNN, weights are reordered once, and a primitive for one example
// runs over the batch: it is as fast as one for many.  The activation follows
// while the example is in the cache; oneDNN's own relu would make zeros of NaN.
// Threads beside the device's own take bands of rows of an example.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/depthwise.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/onednn.h"
#include "libcore/device/cpu/spread.h"
#include "libcore/device/cpu/winograd.h"

namespace dl::device {
namespace {

using dnnl::memory;
using tensor::DType;
using tensor::Shape;
using tensor::View;

constexpr auto kF32 = memory::data_type::f32;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

using Tag = memory::format_tag;

template <std::size_t kAxes>
memory::dims dims_of(const std::int64_t (&values)[kAxes],
                     std::int64_t less = 0) {
  memory::dims dims;
  for (const std::int64_t value : values) dims.push_back(value - less);
  return dims;
}

memory::dims input_of(const Conv2dSpec& s, std::int64_t batch) {
  return {batch, s.channels, s.height, s.width};
}
memory::dims input_of(const Conv3dSpec& s, std::int64_t batch) {
  return {batch, s.channels, s.depth, s.height, s.width};
}
memory::dims output_of(const Conv2dSpec& s, std::int64_t batch) {
  return {batch, s.filters, s.out_height(), s.out_width()};
}
memory::dims output_of(const Conv3dSpec& s, std::int64_t batch) {
  return {batch, s.filters, s.out_depth(), s.out_height(), s.out_width()};
}

template <typename Spec>
memory::dims weights_of(const Spec& s) {
  memory::dims dims{s.filters, s.channels};
  if (s.groups > 1)
    dims = {s.groups, s.filters / s.groups, s.channels / s.groups};
  for (const std::int64_t extent : s.kernel) dims.push_back(extent);
  return dims;
}

// Descriptions of the arrays of a convolution with a given batch.
struct Descriptions {
  template <typename Spec>
  Descriptions(const Spec& s, std::int64_t batch)
      : stride(dims_of(s.stride)),
        dilation(dims_of(s.dilation, 1)),
        begin(dims_of(s.pad_begin)),
        end(dims_of(s.pad_end)) {
    const bool volumes = stride.size() == 3;
    const Tag images = volumes ? Tag::ndhwc : Tag::nhwc;
    const Tag one_group = volumes ? Tag::odhwi : Tag::ohwi;
    const Tag grouped = volumes ? Tag::godhwi : Tag::gohwi;
    x = {input_of(s, batch), kF32, images};
    y = {output_of(s, batch), kF32, images};
    w = {weights_of(s), kF32, s.groups > 1 ? grouped : one_group};
    blocked_w = {weights_of(s), kF32, Tag::any};
    b = {{s.filters}, kF32, Tag::x};
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  dnnl::convolution_forward::primitive_desc forward(
      const OneDnn& dnn, bool bias,
      dnnl::prop_kind kind = dnnl::prop_kind::forward_training) const {
    using Forward = dnnl::convolution_forward;
    return bias
               ? describe<Forward>(dnn, attributes, kind, kDirect, x, blocked_w,
                                   b, y, stride, dilation, begin, end)
               : describe<Forward>(dnn, attributes, kind, kDirect, x, blocked_w,
                                   y, stride, dilation, begin, end);
  }

  dnnl::convolution_backward_data::primitive_desc backward_data(
      const OneDnn& dnn) const {
    return describe_backward<dnnl::convolution_backward_data>(
        dnn, attributes, forward(dnn, false), kDirect, x, blocked_w, y, stride,
        dilation, begin, end);
  }

  dnnl::convolution_backward_weights::primitive_desc backward_weights(
      const OneDnn& dnn, bool bias) const {
    using Backward = dnnl::convolution_backward_weights;
    return bias ? describe_backward<Backward>(
                      dnn, attributes, forward(dnn, true), kDirect, x,
                      blocked_w, b, y, stride, dilation, begin, end)
                : describe_backward<Backward>(
                      dnn, attributes, forward(dnn, false), kDirect, x,
                      blocked_w, y, stride, dilation, begin, end);
  }

  memory::desc x, y, w, blocked_w, b;
  memory::dims stride, dilation, begin, end;
  dnnl::primitive_attr attributes;
};

// Primitive and buffers of one of the three directions of a call.
struct Pass {
  // `blocked` is the format that the primitive wants its weights in.
  template <typename Descriptor>
  Pass(const Descriptor& descriptor, const Descriptions& d,
       const memory::desc& blocked, bool gradient, OneDnn& dnn)
      : primitive(descriptor),
        x(borrowed(d.x, dnn)),
        y(borrowed(d.y, dnn)),
        w(borrowed(d.w, dnn)),
        b(borrowed(d.b, dnn)),
        scratch(borrowed(descriptor.scratchpad_desc(), dnn)) {
    dnn.reserve_scratch(descriptor.scratchpad_desc().get_size());
    if (blocked == d.w) return;
    blocked_w = owned(blocked, dnn);
    reorder =
        gradient ? dnnl::reorder(*blocked_w, w) : dnnl::reorder(w, *blocked_w);
  }

  const memory& weights() const { return blocked_w ? *blocked_w : w; }

  void bind(const View& x_view, const View& y_view, const View& w_view,
            const View& b_view, OneDnn& dnn) {
    x.set_data_handle(x_view.data);
    y.set_data_handle(y_view.data);
    w.set_data_handle(w_view.data);
    b.set_data_handle(b_view.data);
    scratch.set_data_handle(dnn.scratch.bytes().data());
  }

  void pack(OneDnn& dnn) const {
    if (blocked_w)
      execute(reorder, dnn, {{DNNL_ARG_FROM, w}, {DNNL_ARG_TO, *blocked_w}});
  }
  void unpack(OneDnn& dnn) const {
    if (blocked_w)
      execute(reorder, dnn, {{DNNL_ARG_FROM, *blocked_w}, {DNNL_ARG_TO, w}});
  }

  dnnl::primitive primitive;
  dnnl::reorder reorder;
  memory x, y, w, b, scratch;
  std::optional<memory> blocked_w;
};

// A convolution whose weights stay as they are, for one example.  The weights
// are its own, or those of a twin on another device.
struct FrozenConv {
  FrozenConv(const dnnl::convolution_forward::primitive_desc& descriptor,
             const ActivationSpec& activation, OneDnn& dnn,
             const FrozenConv* twin = nullptr)
      : kept_w(twin ? twin->kept_w : owned(descriptor.weights_desc(), dnn)),
        kept_b(twin ? twin->kept_b : owned(descriptor.bias_desc(), dnn)),
        primitive(descriptor),
        x(borrowed(descriptor.src_desc(), dnn)),
        y(borrowed(descriptor.dst_desc(), dnn)),
        w(descriptor.weights_desc(), dnn.engine, kept_w.get_data_handle()),
        b(descriptor.bias_desc(), dnn.engine, kept_b.get_data_handle()),
        scratch(borrowed(descriptor.scratchpad_desc(), dnn)),
        f(activation) {
    require(kept_w.get_desc() == w.get_desc(), "twins differ");
    dnn.reserve_scratch(descriptor.scratchpad_desc().get_size());
  }

  void keep(const Descriptions& d, const View& w_view, const View& b_view,
            OneDnn& dnn) {
    const memory given(d.w, dnn.engine, w_view.data);
    execute(dnnl::reorder(given, w), dnn,
            {{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, w}});
    auto* bias = static_cast<float*>(b.get_data_handle());
    const std::size_t filters = d.b.get_size() / sizeof(float);
    if (b_view.empty())
      std::fill_n(bias, filters, 0.0f);
    else
      std::copy_n(b_view.as<float>(), filters, bias);
  }

  memory kept_w, kept_b;  // shared by twins; w and b are of this device
  dnnl::primitive primitive;
  memory x, y, w, b, scratch;
  ActivationSpec f;
};

// Rows of the result of a frozen convolution, from the rows that they depend
// on.
struct Band {
  View x_of(const View& image) const { return image.at(x_at, x_shape); }
  View y_of(const View& result) const { return result.at(y_at, y_shape); }

  std::int64_t x_at, y_at;
  Shape x_shape, y_shape;
  std::optional<FrozenConv> frozen;
};

// The convolution that gives the rows [first, end) of the result from those of
// the image that begin with `from`; none are left where `end` lies in padding.
Conv2dSpec band_of(Conv2dSpec s, std::int64_t first, std::int64_t end,
                   std::int64_t& from) {
  const std::int64_t begin = first * s.stride[0] - s.pad_begin[0];
  const std::int64_t stop = (end - 1) * s.stride[0] - s.pad_begin[0] +
                            (s.kernel[0] - 1) * s.dilation[0] + 1;
  const std::int64_t to = std::min(stop, s.height);
  from = std::max<std::int64_t>(begin, 0);
  s.pad_begin[0] = from - begin;
  s.pad_end[0] = stop - to;
  s.height = to - from;
  return s;
}

template <typename Spec>
class CpuConv final : public Conv2d {
 public:
  CpuConv(const Spec& spec, std::int64_t max_batch, CpuDevice& device,
          OneDnn& dnn, GemmScratch& products, Spread& spread)
      : spec_(spec),
        max_batch_(max_batch),
        device_(device),
        dnn_(dnn),
        spread_(spread) {
    check_spec(spec, max_batch);
    if constexpr (std::is_same_v<Spec, Conv2dSpec>) {
      if (!Winograd::suits(spec)) return;
      winograd_.emplace(spec, products);
      reserve(winograd_->scratch(max_batch));
    }
  }

  bool freeze(View w, View b, const ActivationSpec& f) override {
    check_weights(DType::kF32, spec_, w, b);
    // OpenBLAS's sums depend on the examples beside.
    if (winograd_ && !best_kernels().blas) {
      f_ = f;
      winograd_->freeze(w.as<float>(), b.empty() ? nullptr : b.as<float>());
      reserve(winograd_->frozen_scratch(max_batch_));
      return true;
    }
    frozen_.reset();
    bands_.clear();
    const Descriptions d(spec_, 1);
    make_frozen(d, f, nullptr);
    with_onednn([&] { frozen_->keep(d, w, b, dnn_); });
    return true;
  }

  void freeze_like(const Conv2d& other) override {
    const auto& twin = dynamic_cast<const CpuConv&>(other);
    if (winograd_ && twin.winograd_->is_frozen()) {
      f_ = twin.f_;
      winograd_->freeze_like(*twin.winograd_);
      return reserve(winograd_->frozen_scratch(max_batch_));
    }
    require(twin.frozen_.has_value(), "a convolution that is not frozen");
    bands_.clear();
    make_frozen(Descriptions(spec_, 1), twin.frozen_->f, &*twin.frozen_);
  }

  void forward(View y, View x, View w, View b) override {
    if (w.empty() && winograd_ && winograd_->is_frozen())
      return forward_transformed(y, x);
    if (w.empty() && frozen_) return forward_frozen(y, x);
    const std::int64_t batch = check(x, y, w, b);
    const bool bias = !b.empty();
    if (winograd_)
      return winograd_->forward(batch, y.as<float>(), x.as<float>(),
                                w.as<float>(), bias ? b.as<float>() : nullptr,
                                scratch());
    Pass& pass = find(forward_, {batch, bias}, [&] {
      const Descriptions d(spec_, batch);
      const auto descriptor = d.forward(dnn_, bias);
      return Pass(descriptor, d, descriptor.weights_desc(), false, dnn_);
    });
    pass.bind(x, y, w, b, dnn_);
    pass.pack(dnn_);
    if (bias) {
      execute(pass.primitive, dnn_,
              {{DNNL_ARG_SRC, pass.x},
               {DNNL_ARG_WEIGHTS, pass.weights()},
               {DNNL_ARG_BIAS, pass.b},
               {DNNL_ARG_DST, pass.y},
               {DNNL_ARG_SCRATCHPAD, pass.scratch}});
    } else {
      execute(pass.primitive, dnn_,
              {{DNNL_ARG_SRC, pass.x},
               {DNNL_ARG_WEIGHTS, pass.weights()},
               {DNNL_ARG_DST, pass.y},
               {DNNL_ARG_SCRATCHPAD, pass.scratch}});
    }
  }

  void backward_data(View dx, View dy, View w) override {
    const std::int64_t batch = check(dx, dy, w, {});
    if (winograd_)
      return winograd_->backward_data(batch, dx.as<float>(), dy.as<float>(),
                                      w.as<float>(), scratch());
    Pass& pass = find(data_, {batch, false}, [&] {
      const Descriptions d(spec_, batch);
      const auto descriptor = d.backward_data(dnn_);
      return Pass(descriptor, d, descriptor.weights_desc(), false, dnn_);
    });
    pass.bind(dx, dy, w, {}, dnn_);
    pass.pack(dnn_);
    execute(pass.primitive, dnn_,
            {{DNNL_ARG_DIFF_SRC, pass.x},
             {DNNL_ARG_WEIGHTS, pass.weights()},
             {DNNL_ARG_DIFF_DST, pass.y},
             {DNNL_ARG_SCRATCHPAD, pass.scratch}});
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    const std::int64_t batch = check(x, dy, dw, db);
    if constexpr (std::is_same_v<Spec, Conv2dSpec>) {
      if (is_large_depthwise(spec_)) {
        depthwise_weights(spec_, batch, dw.as<float>(), x.as<float>(),
                          dy.as<float>());
        if (!db.empty()) device_.sum_rows(db, dy);
        return;
      }
    }
    if (winograd_) {
      winograd_->backward_weights(batch, dw.as<float>(), x.as<float>(),
                                  dy.as<float>(), scratch());
      if (!db.empty()) device_.sum_rows(db, dy);
      return;
    }
    const bool bias = !db.empty();
    Pass& pass = find(weights_, {batch, bias}, [&] {
      const Descriptions d(spec_, batch);
      const auto descriptor = d.backward_weights(dnn_, bias);
      return Pass(descriptor, d, descriptor.diff_weights_desc(), true, dnn_);
    });
    pass.bind(x, dy, dw, db, dnn_);
    if (bias) {
      execute(pass.primitive, dnn_,
              {{DNNL_ARG_SRC, pass.x},
               {DNNL_ARG_DIFF_WEIGHTS, pass.weights()},
               {DNNL_ARG_DIFF_BIAS, pass.b},
               {DNNL_ARG_DIFF_DST, pass.y},
               {DNNL_ARG_SCRATCHPAD, pass.scratch}});
    } else {
      execute(pass.primitive, dnn_,
              {{DNNL_ARG_SRC, pass.x},
               {DNNL_ARG_DIFF_WEIGHTS, pass.weights()},
               {DNNL_ARG_DIFF_DST, pass.y},
               {DNNL_ARG_SCRATCHPAD, pass.scratch}});
    }
    pass.unpack(dnn_);
  }

 private:
  using Key = std::pair<std::int64_t, bool>;  // batch, with bias
  using Passes = std::map<Key, Pass>;

  template <typename F>
  Pass& find(Passes& passes, Key key, F make) {
    const auto it = passes.find(key);
    if (it != passes.end()) return it->second;
    return passes.emplace(key, with_onednn(make)).first->second;
  }

  void make_frozen(const Descriptions& d, const ActivationSpec& f,
                   const FrozenConv* twin) {
    with_onednn([&] {
      frozen_.emplace(d.forward(dnn_, true, dnnl::prop_kind::forward_inference),
                      f, dnn_, twin);
    });
  }

  void forward_transformed(const View& y, const View& x) {
    check_reals(DType::kF32, {x, y});
    const std::int64_t batch = check_images(spec_, max_batch_, x, y);
    const Shape out = y.shape.without_first();
    const auto finish = [&](std::int64_t first, std::int64_t count) {
      const View done = y.at(first * out.elements(), out.with_first(count));
      device_.activate(f_, done, done);
    };
    winograd_->forward_frozen(batch, y.as<float>(), x.as<float>(), scratch(),
                              spread_, std::cref(finish));
  }

  void forward_frozen(const View& y, const View& x) {
    check_reals(DType::kF32, {x, y});
    const std::int64_t batch = check_images(spec_, max_batch_, x, y);
    const Shape in = x.shape.without_first().with_first(1),
                out = y.shape.without_first().with_first(1);
    const int parts = split(static_cast<double>(out.elements()));
    for (std::int64_t i = 0; i < batch; ++i) {
      const View image = x.at(i * in.elements(), in),
                 result = y.at(i * out.elements(), out);
      if (parts == 1) {
        apply(*frozen_, dnn_, image, result);
        continue;
      }
      spread_.run(parts, [&](int p) {
        Band& band = bands_[static_cast<std::size_t>(p)];
        apply(*band.frozen, p == 0 ? dnn_ : spread_.part(p).dnn,
              band.x_of(image), band.y_of(result));
      });
    }
  }

  void apply(FrozenConv& f, OneDnn& dnn, const View& x, const View& y) {
    f.scratch.set_data_handle(dnn.scratch.bytes().data());
    f.x.set_data_handle(x.data);
    f.y.set_data_handle(y.data);
    execute(f.primitive, dnn,
            {{DNNL_ARG_SRC, f.x},
             {DNNL_ARG_WEIGHTS, f.w},
             {DNNL_ARG_BIAS, f.b},
             {DNNL_ARG_DST, f.y},
             {DNNL_ARG_SCRATCHPAD, f.scratch}});
    device_.activate(f.f, y, y);
  }

  // Into how many bands to split an example with so many results.
  int split(double results) {
    if constexpr (!std::is_same_v<Spec, Conv2dSpec>) return 1;
    std::int64_t each = spec_.channels / spec_.groups;
    for (const std::int64_t extent : spec_.kernel) each *= extent;
    const int parts = spread_.parts(results * static_cast<double>(each));
    if (parts == 1) return 1;
    if (std::cmp_not_equal(bands_.size(), parts)) make_bands(parts);
    return bands_.back().frozen ? parts : 1;
  }

  // The last one has nothing where the image cannot be split so, or oneDNN
  // wants the weights in another order for it.
  void make_bands(int parts) {
    if constexpr (std::is_same_v<Spec, Conv2dSpec>) {
      bands_.clear();
      const std::int64_t rows = spec_.out_height();
      for (int p = 0; p < parts; ++p) {
        const std::int64_t first = rows * p / parts,
                           end = rows * (p + 1) / parts;
        std::int64_t from = 0;
        const Conv2dSpec s = band_of(spec_, first, end, from);
        const std::int64_t x_row = s.width * s.channels,
                           y_row = s.out_width() * s.filters;
        bands_.push_back({from * x_row,
                          first * y_row,
                          {1, s.height, s.width, s.channels},
                          {1, end - first, s.out_width(), s.filters},
                          std::nullopt});
        OneDnn& dnn = p == 0 ? dnn_ : spread_.part(p).dnn;
        if (first == end || s.height < 1 || !freeze_band(s, dnn)) return;
      }
    }
  }

  bool freeze_band(const Conv2dSpec& s, OneDnn& dnn) {
    return with_onednn([&] {
      const auto descriptor = Descriptions(s, 1).forward(
          dnn, true, dnnl::prop_kind::forward_inference);
      if (descriptor.weights_desc() != frozen_->kept_w.get_desc()) return false;
      bands_.back().frozen.emplace(descriptor, frozen_->f, dnn, &*frozen_);
      return true;
    });
  }

  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals(DType::kF32, {x, y});
    check_weights(DType::kF32, spec_, w, b);
    return check_images(spec_, max_batch_, x, y);
  }

  void reserve(std::int64_t floats) {
    dnn_.reserve_scratch(static_cast<std::size_t>(floats) * sizeof(float));
  }
  float* scratch() {
    return reinterpret_cast<float*>(dnn_.scratch.bytes().data());
  }

  Spec spec_;
  std::int64_t max_batch_;
  CpuDevice& device_;
  OneDnn& dnn_;
  Spread& spread_;
  std::optional<Winograd> winograd_;
  ActivationSpec f_;  // that follows, if that is frozen
  std::optional<FrozenConv> frozen_;
  std::vector<Band> bands_;  // of an example, a thread each
  Passes forward_, data_, weights_;
};

}  // namespace

std::unique_ptr<Conv2d> CpuDevice::conv2d(const Conv2dSpec& spec,
                                          std::int64_t max_batch) {
  return std::make_unique<CpuConv<Conv2dSpec>>(spec, max_batch, *this, *dnn_,
                                               *gemm_, *spread_);
}

std::unique_ptr<Conv3d> CpuDevice::conv3d(const Conv3dSpec& spec,
                                          std::int64_t max_batch) {
  return std::make_unique<CpuConv<Conv3dSpec>>(spec, max_batch, *this, *dnn_,
                                               *gemm_, *spread_);
}

}  // namespace dl::device
