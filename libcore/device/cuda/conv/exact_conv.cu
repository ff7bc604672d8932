// Convolution in float32 by kernels of our own.

#include <array>
#include <numeric>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cuda/conv/conv_axes.h"
#include "libcore/device/cuda/conv/conv_sources.h"
#include "libcore/device/cuda/conv/direct_conv.h"
#include "libcore/device/cuda/conv/exact_conv.h"
#include "libcore/device/cuda/conv/few_channels.h"
#include "libcore/device/cuda/conv/gemm_tiles.h"
#include "libcore/device/cuda/conv/range_sums.h"

namespace dl::device::cuda {
using tensor::DType;
using tensor::View;

namespace {

bool in_fours(std::initializer_list<std::int64_t> extents,
              std::initializer_list<View> arrays) {
  for (const std::int64_t extent : extents)
    if (extent % 4 != 0) return false;
  for (const View& array : arrays)
    if (reinterpret_cast<std::uintptr_t>(array.data) % sizeof(float4) != 0)
      return false;
  return true;
}

// Inputs begin, begin + stride, .. of each axis, as they see the outputs: taps
// are tap, tap + every, ..
struct Phase {
  ConvAxes axes;
  Three begin, tap, every;
  bool sparse;
};

// The part of all pairs of a position and a tap that lies on pixels.
double part_inside(const ConvAxis& axis) {
  double inside = 0;
  for (int p = 0; p < axis.positions; ++p) inside += axis.hits(p, p).count;
  return inside / (double{1} * axis.positions * axis.taps);
}

// The gain of rows by position must exceed that of neighboring windows that
// share pixels; and pixels are to be loads worth a sector of memory.
bool is_sparse(const ConvAxes& axes, int group_channels) {
  double part = 1;
  for (const ConvAxis& axis : axes) part *= part_inside(axis);
  return part < 0.85 && group_channels >= 8;
}

struct PutWeight {
  float* dw;
  DL_DEVICE void operator()(std::int64_t i, float sum) const { dw[i] = sum; }
};

template <typename Spec>
class ExactConv final : public Conv2d {
 public:
  ExactConv(CudaDevice& device, const Spec& spec, std::int64_t max_batch)
      : device_(device),
        stream_(device.stream()),
        given_(spec),
        max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const Conv3dSpec s = volume_of(spec);
    check_extents(s);
    axes_ = axes_of(s);
    channels_ = narrow(s.channels);
    filters_ = narrow(s.filters);
    groups_ = narrow(s.groups);
    taps_ = axes_[0].taps * axes_[1].taps * axes_[2].taps;
    sparse_ = is_sparse(axes_, group_channels());
    const auto phases = [&](int k) {
      return std::min(axes_[k].step, axes_[k].pixels);
    };
    for (int d = 0; d < phases(0); ++d)
      for (int h = 0; h < phases(1); ++h)
        for (int w = 0; w < phases(2); ++w) add_phase({d, h, w});
  }

  void forward(View y, View x, View w, View b) override {
    const int batch = check(x, y, w, b);
    if (narrow_groups())
      return each(stream_, y.elements(),
                  DirectForward{direct(batch), y.as<float>(), x.as<float>(),
                                w.as<float>(), b.as<float>()});
    if (has_few_channels(axes_, channels_, groups_))
      return few_channels_forward(
          stream_, pixels_of(axes_, batch, channels_, channels_),
          narrow(batch * positions_of(axes_)), filters_, y.as<float>(),
          x.as<float>(), w.as<float>(), b.as<float>());
    const Pixels pixels =
        pixels_of(axes_, batch, channels_, group_channels(), sparse_);
    const TapWeights<true> weights = weights_of<true>(w, {0, 0, 0}, {1, 1, 1});
    GemmResult result =
        pixels_in(y, filters_, pixels.places,
                  {axes_[0].positions, axes_[1].positions, axes_[2].positions},
                  {0, 0, 0}, {1, 1, 1});
    result.bias = b.as<float>();
    const GemmSizes sizes{narrow(batch * positions_of(axes_)),
                          group_filters(),
                          groups_,
                          false,
                          in_fours({group_channels()}, {x}),
                          in_fours({group_channels()}, {w})};
    launch(stream_, sizes, plan_of(sizes, busy_blocks(stream_)), 1,
           GemmProduct<Windows, TapWeights<true>>{
               sizes.rows, {pixels, x.as<float>()}, weights, result});
  }

  void backward_data(View dx, View dy, View w) override {
    const int batch = check(dx, dy, w, {});
    if (narrow_groups())
      return each(stream_, dx.elements(),
                  DirectBackwardData{direct(batch), dx.as<float>(),
                                     dy.as<float>(), w.as<float>()});
    products_.clear();
    std::int64_t rows = 0;
    for (const Phase& phase : phases_) {
      const Pixels pixels =
          pixels_of(phase.axes, batch, filters_, group_filters(), phase.sparse);
      const GemmResult result =
          pixels_in(dx, channels_, pixels.places,
                    {axes_[0].pixels, axes_[1].pixels, axes_[2].pixels},
                    phase.begin, {axes_[0].step, axes_[1].step, axes_[2].step});
      products_.push_back({narrow(batch * positions_of(phase.axes)),
                           Windows{pixels, dy.as<float>()},
                           weights_of<false>(w, phase.tap, phase.every),
                           result});
      rows += products_.back().rows;
    }
    const GemmSizes sizes{narrow(rows),
                          group_channels(),
                          groups_,
                          false,
                          in_fours({group_filters()}, {dy}),
                          in_fours({group_channels()}, {w})};
    launch(stream_, sizes, plan_of(sizes, busy_blocks(stream_)),
           std::span<const GemmProduct<Windows, TapWeights<false>>>(products_));
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    const int batch = check(x, dy, dw, db);
    if (narrow_groups())
      sum_direct(dw, x, dy, batch);
    else
      sum_products(dw, x, dy, batch);
    if (!db.empty()) device_.sum_rows(db, dy);
  }

 private:
  int group_channels() const { return channels_ / groups_; }
  int group_filters() const { return filters_ / groups_; }
  int window() const { return taps_ * group_channels(); }
  bool narrow_groups() const {
    return groups_ > 1 && std::max(group_channels(), group_filters()) <= 8;
  }

  // Numbers of elements are of 32 bits: of inputs, with paddings as if they
  // were there, of outputs whose windows would begin in those, and of weights
  // with biases.  The last block counts on, to the end of its tile.
  void check_extents(const Conv3dSpec& s) const {
    const std::int64_t taps = volume({s.kernel[0], s.kernel[1], s.kernel[2]});
    const std::int64_t extents[] = {s.depth, s.height, s.width};
    std::int64_t inputs = max_batch_, outputs = max_batch_;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t padded = s.pad_begin[k] + extents[k] + s.pad_end[k];
      inputs *= padded;
      outputs *= padded / s.stride[k] + 1;
    }
    const std::int64_t most =
        std::max({inputs * s.channels, outputs * s.filters,
                  (taps * s.channels + 1) * s.filters});
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 4 * kThreads;
    if (most > kMost || taps > 1 << 15)
      throw Error{Code::kUnavailable,
                  device_.name() +
                      ": a convolution of more than 2^31 numbers, or 2^15 "
                      "taps; try a smaller --batch"};
  }
  int check(const View& x, const View& y, const View& w, const View& b) const {
    check_reals(DType::kF32, {x, y});
    check_weights(DType::kF32, given_, w, b);
    return static_cast<int>(check_images(given_, max_batch_, x, y));
  }

  void add_phase(const Three& begin) {
    Phase phase{};
    for (std::size_t k = 0; k < 3; ++k) add_axis(phase, k, begin[k]);
    phase.sparse = is_sparse(phase.axes, group_filters());
    phases_.push_back(phase);
  }
  // Outputs whose tap lies on an input are (input - first - tap) / stride.
  void add_axis(Phase& phase, std::size_t k, int begin) const {
    const ConvAxis& x = axes_[k];
    const int common = std::gcd(x.step, x.tap_step), every = x.step / common;
    const auto from = [&](int tap) {
      return begin - x.first - tap * x.tap_step;
    };
    const int most = std::min(every, x.taps);
    int tap = 0;
    while (tap < most && from(tap) % x.step != 0) ++tap;
    const bool met = tap < most;
    phase.begin[k] = begin;
    phase.tap[k] = met ? tap : 0;
    phase.every[k] = every;
    phase.axes[k] = {(x.pixels - begin + x.step - 1) / x.step,
                     met ? (x.taps - tap + every - 1) / every : 0,
                     1,
                     met ? from(tap) / x.step : 0,
                     -(x.tap_step / common),
                     x.positions};
  }

  // Weights of taps tap, tap + every, ..
  template <bool of_filters>
  TapWeights<of_filters> weights_of(const View& w, const Three& tap,
                                    const Three& every) const {
    const int column = group_channels(), row = axes_[2].taps * column,
              plane = axes_[1].taps * row;
    TapWeights<of_filters> weights{};
    weights.from = w.as<float>();
    weights.each_line = of_filters ? window() : 1;
    weights.channel = of_filters ? 1 : window();
    weights.first = tap[0] * plane + tap[1] * row + tap[2] * column;
    weights.d = every[0] * plane;
    weights.h = every[1] * row;
    weights.w = every[2] * column;
    weights.group = group_filters() * window();
    weights.by_group_channels =
        Divisor::of(of_filters ? group_channels() : group_filters());
    return weights;
  }

  // Rows are the pixels begin, begin + step, .. of images.
  GemmResult pixels_in(const View& to, int channels, const Places& places,
                       const Three& extents, const Three& begin,
                       const Three& step) const {
    GemmResult r{};
    r.to = to.as<float>();
    r.row = channels;
    r.group = channels / groups_;
    r.vectors = in_fours({r.group}, {to});
    r.scattered = places.by_position ||
                  std::ranges::any_of(step, [](int s) { return s > 1; });
    r.places = places;
    const int line = r.row * extents[2], plane = line * extents[1];
    r.example = plane * extents[0];
    r.d = step[0] * plane;
    r.h = step[1] * line;
    r.w = step[2] * r.row;
    r.first = begin[0] * plane + begin[1] * line + begin[2] * r.row;
    return r;
  }

  void sum_products(const View& dw, const View& x, const View& dy, int batch) {
    constexpr int kDeepest = SmallTile::depth;
    constexpr std::int64_t kFewest = 4 * kDeepest;  // positions of a range
    const int positions = narrow(batch * positions_of(axes_));
    const GemmSizes sizes{group_filters(),
                          window(),
                          groups_,
                          true,
                          in_fours({group_filters()}, {dy}),
                          in_fours({group_channels()}, {x})};
    const std::int64_t busy = busy_blocks(stream_);
    const GemmPlan plan = plan_of(sizes, busy);
    const std::int64_t most = std::clamp<std::int64_t>(
        2 * busy / plan.tiles, 1, (positions + kFewest - 1) / kFewest);
    const int range = narrow((positions + most * kDeepest - 1) /
                             (most * kDeepest) * kDeepest);
    const std::int64_t ranges = (positions - 1) / range + 1;
    GemmResult result{};
    result.row = window();
    result.group = result.row * group_filters();
    result.range = result.row * filters_;
    result.to = ranges == 1 ? dw.as<float>()
                            : stream_.scratch<float>(ranges * result.range);
    result.vectors = window() % 4 == 0 && (ranges > 1 || in_fours({}, {dw}));
    launch(stream_, sizes, plan, ranges,
           GemmProduct<Slopes, WindowColumns>{
               sizes.rows,
               {dy.as<float>(), filters_, group_filters(), positions, range},
               {pixels_of(axes_, batch, channels_, group_channels()),
                x.as<float>()},
               result});
    if (ranges > 1)
      sum_ranges(stream_, result.to, ranges, result.range,
                 PutWeight{dw.as<float>()});
  }

  DirectConv direct(int batch) const {
    DirectConv c{};
    c.x = pixels_of(axes_, batch, channels_, group_channels());
    const int plane = axes_[1].pixels * axes_[2].pixels;
    c.inputs = {Divisor::of(axes_[0].pixels * plane), false, Divisor::of(plane),
                Divisor::of(axes_[2].pixels)};
    c.stride_d = Divisor::of(axes_[0].step);
    c.stride_h = Divisor::of(axes_[1].step);
    c.stride_w = Divisor::of(axes_[2].step);
    c.filters = filters_;
    c.group_filters = group_filters();
    c.by_filters = Divisor::of(filters_);
    c.by_group_filters = Divisor::of(group_filters());
    return c;
  }
  void sum_direct(const View& dw, const View& x, const View& dy, int batch) {
    const DirectConv c = direct(batch);
    sum_columns<float>(
        stream_, batch * positions_of(axes_), dw.elements(),
        DirectSlope{c, x.as<float>(), dy.as<float>(), c.x.all_taps()},
        DirectWeight{c, dw.as<float>(), window()});
  }

  CudaDevice& device_;
  Stream& stream_;
  Spec given_;
  std::int64_t max_batch_;
  ConvAxes axes_{};
  int channels_ = 0, filters_ = 0, groups_ = 0, taps_ = 0;
  bool sparse_ = false;  // windows of forward()
  std::vector<Phase> phases_;
  // Products of the phases; kept, as a step allocates nothing.
  std::vector<GemmProduct<Windows, TapWeights<false>>> products_;
};

}  // namespace

std::unique_ptr<Conv2d> exact_conv(CudaDevice& device, const Conv2dSpec& spec,
                                   std::int64_t max_batch) {
  return std::make_unique<ExactConv<Conv2dSpec>>(device, spec, max_batch);
}

std::unique_ptr<Conv3d> exact_conv(CudaDevice& device, const Conv3dSpec& spec,
                                   std::int64_t max_batch) {
  return std::make_unique<ExactConv<Conv3dSpec>>(device, spec, max_batch);
}

}  // namespace dl::device::cuda
