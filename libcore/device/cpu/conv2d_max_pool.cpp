// Convolution followed by 2x2 max pooling, at a cost that pooling alone makes
// possible: of four sums one survives, so the whole result is never stored, and
// of four gradients three are zero (more behind a relu), so the backward passes
// visit the winners only.  Where winograd.h suits, the whole result is cheaper,
// and the winners are found in it.
//
// Lanes are pooled outputs, in the order [image, row, column].  A group is as
// many of them as a vector has lanes; a chunk is as many images as fit a cache,
// copied into borders of zeros where the convolution pads.

#include <algorithm>
#include <vector>

#include "libcore/device/check.h"
#include "libcore/device/conv2d_then_max_pool.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/pooled_windows.h"
#include "libcore/device/cpu/simd.h"
#include "libcore/device/cpu/winograd.h"

namespace dl::device {
namespace kernels {

// Largest of four pixels, for each channel: the greatest value and which pixel
// has it, the first of equals; NaN wins.
DL_VECTOR void greatest_of_four(float* y, std::int32_t* winner,
                                const float* const pixels[4],
                                std::int64_t channels) {
  const float *a = pixels[0], *b = pixels[1], *c = pixels[2], *d = pixels[3];
  const auto take = [](float value, std::int32_t q, float& best,
                       std::int32_t& which) {
    const bool better = !(value <= best) && best == best;
    best = better ? value : best;
    which = better ? q : which;
  };
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < channels; ++i) {
    float best = a[i];
    std::int32_t which = 0;
    take(b[i], 1, best, which);
    take(c[i], 2, best, which);
    take(d[i], 3, best, which);
    y[i] = best;
    winner[i] = which;
  }
}

}  // namespace kernels

namespace {
using tensor::DType;
using tensor::View;

// Floats from an address that vectors like.
class Room {
 public:
  void resize(std::size_t floats) {
    memory_.resize(DType::kF32, {static_cast<std::int64_t>(floats)});
    fill(0);
  }
  void fill(float value) { std::ranges::fill(memory_.as<float>(), value); }
  float* data() { return memory_.as<float>().data(); }

 private:
  tensor::Tensor memory_;
};

class CpuConv2dMaxPool final : public Conv2d {
 public:
  CpuConv2dMaxPool(const Conv2dSpec& spec, std::int64_t max_batch,
                   CpuDevice& device)
      : device_(device),
        spec_(spec),
        max_batch_(max_batch),
        kernels_(&best_kernels()),
        lanes_(kernels_->lanes),
        at_(spec),
        chunk_(at_.chunk(spec.filters, lanes_, max_batch)),
        span_(round_up(at_.kernel_span, lanes_)) {
    const std::int64_t filters = spec.filters;
    if (Winograd::suits(spec)) {
      whole_ = device.conv2d(spec, max_batch);
      whole_result_ = device.allocate(
          {max_batch, spec.out_height(), spec.out_width(), filters});
    }
    const std::int64_t groups = (chunk_ * at_.outputs + lanes_ - 1) / lanes_ *
                                ((max_batch + chunk_ - 1) / chunk_);
    // Kernels read and write up to a vector behind what they are asked for.
    images_.resize(size(chunk_ * at_.image + lanes_));
    window_.resize(size(at_.window_rows * at_.window_span * lanes_));
    packed_.resize(size(at_.taps * filters + lanes_));
    wide_.resize(size(filters * spec.kernel[0] * span_ + lanes_));
    bias_.resize(size(filters));
    best_.resize(size(filters * lanes_));
    turned_.resize(size((filters + 1) * lanes_));
    winners_.resize(size(groups * filters * lanes_));
    gradients_.resize(size(groups_of(chunk_) * filters * lanes_ + lanes_));
    windows_.resize(size(groups_of(chunk_) * lanes_));
    const std::int64_t longest =
        std::max(groups_of(chunk_) * lanes_, filters) + lanes_;
    for (int q = 0; q < 4; ++q) {
      places_[q].resize(size(longest));
      factors_[q].resize(size(longest));
    }
    for (std::int64_t i = 0; i < chunk_ * at_.outputs; ++i)
      windows_[size(i)] = static_cast<std::int32_t>(
          i / at_.outputs * at_.image + at_.window(i % at_.outputs));
  }

  void forward(View y, View x, View w, View b) override {
    const bool frozen = w.empty();
    const std::int64_t batch =
        frozen ? check_max_pool_images(spec_, max_batch_, x, y)
               : check(x, y, w, b);
    kernels_ = &kernels_for(batch * at_.outputs);
    lanes_ = kernels_->lanes;
    if (whole_)
      forward_whole(y, x, w, b, batch);
    else
      forward_groups(y, x, w, b, batch);
    if (frozen) device_.activate(f_, y, y);
  }

  bool freeze(View w, View b, const ActivationSpec& f) override {
    f_ = f;
    if (whole_) return whole_->freeze(w, b, {});
    check_weights(DType::kF32, spec_, w, b);
    pack(w, b);
    return true;
  }

  void freeze_like(const Conv2d& other) override {
    const auto& twin = dynamic_cast<const CpuConv2dMaxPool&>(other);
    f_ = twin.f_;
    if (whole_) return whole_->freeze_like(*twin.whole_);
    packed_ = twin.packed_;  // little beside what a lane works on
    bias_ = twin.bias_;
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    const std::int64_t batch = check(x, dy, dw, db);
    wide_.fill(0);
    for (std::int64_t first = 0; first < batch; first += chunk_) {
      const std::int64_t count = std::min(chunk_, batch - first);
      load_images(x.as<float>() + first * source(), count);
      load_gradients(dy.as<float>() + first * at_.outputs * spec_.filters,
                     count);
      for (std::int64_t f = 0; f < spec_.filters; ++f)
        add_filter_gradient(f, first, count);
    }
    const std::int64_t rows = spec_.filters * spec_.kernel[0];
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(wide_.data() + r * span_, at_.kernel_span,
                  dw.as<float>() + r * at_.kernel_span);
    if (!db.empty()) device_.sum_rows(db, dy);
  }

  void backward_data(View dx, View dy, View w) override {
    const std::int64_t batch = check(dx, dy, w, {});
    widen(w.as<float>());
    const std::int64_t filters = spec_.filters;
    for (std::int64_t first = 0; first < batch; first += chunk_) {
      const std::int64_t count = std::min(chunk_, batch - first);
      std::fill_n(images_.data(), count * at_.image, 0.0f);
      const float* gradients = dy.as<float>() + first * at_.outputs * filters;
      for (std::int64_t i = 0; i < count * at_.outputs; ++i)
        spread(i, gradients + i * filters, winners_of(first, i / lanes_));
      store_images(dx.as<float>() + first * source(), count);
    }
  }

 private:
  static std::size_t size(std::int64_t n) {
    return static_cast<std::size_t>(n);
  }
  std::int64_t source() const { return spec_.height * at_.source_row; }
  std::int64_t groups_of(std::int64_t images) const {
    return (images * at_.outputs + lanes_ - 1) / lanes_;
  }
  // [filters, lanes] of group g of the chunk that starts with image `first`.
  std::uint8_t* winners_of(std::int64_t first, std::int64_t g) {
    const std::int64_t group = first / chunk_ * groups_of(chunk_) + g;
    return winners_.data() + group * spec_.filters * lanes_;
  }

  // Filters of the tile that starts with filter f: about equally many each.
  std::int64_t tile(std::int64_t f) const {
    const std::int64_t most = best_kernels().pool_filters;
    const std::int64_t tiles = (spec_.filters + most - 1) / most;
    const std::int64_t each = spec_.filters / tiles,
                       more = spec_.filters % tiles;
    return f < more * (each + 1) ? each + 1 : each;
  }

  // [tile][taps][filters of the tile]
  void pack(View weights, View b) {
    const float* w = weights.as<float>();
    bias_.fill(0);
    if (!b.empty()) std::copy_n(b.as<float>(), spec_.filters, bias_.data());
    for (std::int64_t f = 0; f < spec_.filters;) {
      const std::int64_t count = tile(f);
      kernels_->transpose(packed_.data() + f * at_.taps, count,
                          w + f * at_.taps, at_.taps, static_cast<int>(count),
                          at_.taps);
      f += count;
    }
  }

  // [filters][kernel rows][span], zeros behind the kernel's span.
  void widen(const float* w) {
    wide_.fill(0);
    for (std::int64_t r = 0; r < spec_.filters * spec_.kernel[0]; ++r)
      std::copy_n(w + r * at_.kernel_span, at_.kernel_span,
                  wide_.data() + r * span_);
  }

  void load_images(const float* x, std::int64_t count) {
    if (at_.image == source()) {
      std::copy_n(x, count * at_.image, images_.data());
      return;
    }
    std::fill_n(images_.data(), count * at_.image, 0.0f);
    for_each_row(count, [&](std::int64_t from, std::int64_t to) {
      std::copy_n(x + from, at_.source_row, images_.data() + to);
    });
  }

  void store_images(float* dx, std::int64_t count) {
    for_each_row(count, [&](std::int64_t to, std::int64_t from) {
      std::copy_n(images_.data() + from, at_.source_row, dx + to);
    });
  }

  // f(place outside, place within the border)
  template <typename F>
  void for_each_row(std::int64_t count, F f) const {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t r = 0; r < spec_.height; ++r)
        f(i * source() + r * at_.source_row,
          i * at_.image + at_.inside + r * at_.row);
  }

  void forward_groups(View y, View x, View w, View b, std::int64_t batch) {
    if (!w.empty()) pack(w, b);
    for (std::int64_t first = 0; first < batch; first += chunk_) {
      const std::int64_t count = std::min(chunk_, batch - first);
      load_images(x.as<float>() + first * source(), count);
      for (std::int64_t g = 0; g < groups_of(count); ++g)
        forward_group(y.as<float>() + first * at_.outputs * spec_.filters, g,
                      count, winners_of(first, g));
    }
  }

  void forward_whole(View y, View x, View w, View b, std::int64_t batch) {
    const View all = whole_result_->view();
    whole_->forward(all.at(0, all.shape.without_first().with_first(batch)), x,
                    w, b);
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t i = 0; i < at_.outputs; ++i)
        choose_winners(y.as<float>(), n, i);
  }

  // Chooses the winners of output i of image n, in the whole result.
  void choose_winners(float* y, std::int64_t n, std::int64_t i) {
    const std::int64_t filters = spec_.filters,
                       row = spec_.out_width() * filters;
    const float* const first =
        whole_result_->view().as<float>() + n * spec_.out_height() * row +
        i / at_.columns * 2 * row + i % at_.columns * 2 * filters;
    const float* const pixels[4] = {first, first + filters, first + row,
                                    first + row + filters};
    std::int32_t* const winner = places_[0].data();
    kernels::greatest_of_four(y + (n * at_.outputs + i) * filters, winner,
                              pixels, filters);
    const std::int64_t chunk = n / chunk_ * chunk_,
                       output = (n - chunk) * at_.outputs + i;
    std::uint8_t* const to =
        winners_of(chunk, output / lanes_) + output % lanes_;
    for (std::int64_t f = 0; f < filters; ++f)
      to[f * lanes_] = static_cast<std::uint8_t>(winner[f]);
  }

  void forward_group(float* y, std::int64_t g, std::int64_t images,
                     std::uint8_t* winners) {
    const std::int64_t filters = spec_.filters;
    const std::int64_t first = g * lanes_;
    const std::int64_t used = std::min(lanes_, images * at_.outputs - first);
    const float* from[kMostLanes];
    for (std::int64_t i = 0; i < lanes_; ++i)
      from[i] = images_.data() + windows_[size(first + std::min(i, used - 1))];
    kernels_->pack_window(window_.data(), from, at_.row, at_.window_rows,
                          at_.window_span);
    const std::int64_t window_row = at_.window_span * lanes_;
    for (std::int64_t f = 0; f < filters;) {
      const std::int64_t count = tile(f);
      kernels_->pool_tile(static_cast<int>(count),
                          {.window = window_.data(),
                           .window_row = window_row,
                           .right = at_.right * lanes_,
                           .down = spec_.stride[0] * window_row,
                           .kernel_rows = spec_.kernel[0],
                           .kernel_span = at_.kernel_span,
                           .w = packed_.data() + f * at_.taps,
                           .w_row = count,
                           .bias = bias_.data() + f,
                           .best = best_.data() + f * lanes_,
                           .winner = winners + f * lanes_});
      f += count;
    }
    // Backwards, as a part of a vector is written with what is behind it.
    for (std::int64_t f = (filters - 1) / lanes_ * lanes_; f >= 0; f -= lanes_)
      kernels_->transpose(
          turned_.data() + f, filters, best_.data() + f * lanes_, lanes_,
          static_cast<int>(std::min(lanes_, filters - f)), lanes_);
    std::copy_n(turned_.data(), used * filters, y + first * filters);
  }

  // dy [outputs, filters] to [groups][filters][lanes].
  void load_gradients(const float* dy, std::int64_t images) {
    const std::int64_t filters = spec_.filters;
    for (std::int64_t g = 0; g < groups_of(images); ++g) {
      const std::int64_t used =
          std::min(lanes_, images * at_.outputs - g * lanes_);
      float* to = gradients_.data() + g * filters * lanes_;
      if (used < lanes_) std::fill_n(to, filters * lanes_, 0.0f);
      kernels_->transpose(to, lanes_, dy + g * lanes_ * filters, filters,
                          static_cast<int>(used), filters);
    }
  }

  void add_filter_gradient(std::int64_t f, std::int64_t first,
                           std::int64_t images) {
    const Weighted list = {places_[0].data(), factors_[0].data()};
    const std::int64_t count = kernels_->find_winners(
        list, gradients_.data() + f * lanes_, winners_of(first, 0) + f * lanes_,
        windows_.data(), groups_of(images), spec_.filters * lanes_,
        static_cast<std::int32_t>(at_.right),
        static_cast<std::int32_t>(at_.down));
    kernels_->add_weighted(wide_.data() + f * spec_.kernel[0] * span_, span_,
                           images_.data(), at_.row, spec_.kernel[0],
                           span_ / lanes_, list, count);
  }

  // Adds to the images what output i of the chunk, with these gradients, wants.
  void spread(std::int64_t i, const float* dy, const std::uint8_t* winners) {
    const std::int64_t lane = i % lanes_;
    std::int64_t count[4] = {};
    for (std::int64_t f = 0; f < spec_.filters; ++f) {
      const std::uint8_t q = winners[f * lanes_ + lane];
      const std::size_t last = size(count[q]);
      places_[q][last] = static_cast<std::int32_t>(f * spec_.kernel[0] * span_);
      factors_[q][last] = dy[f];
      count[q] += dy[f] != 0 ? 1 : 0;
    }
    float* window = images_.data() + windows_[size(i)];
    for (int q = 0; q < 4; ++q)
      kernels_->add_weighted(window + ((q & 1) != 0 ? at_.right : 0) +
                                 ((q & 2) != 0 ? at_.down : 0),
                             at_.row, wide_.data(), span_, spec_.kernel[0],
                             span_ / lanes_,
                             {places_[q].data(), factors_[q].data()}, count[q]);
  }

  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals(DType::kF32, {x, y});
    check_weights(DType::kF32, spec_, w, b);
    return check_max_pool_images(spec_, max_batch_, x, y);
  }

  static constexpr int kMostLanes = 16;

  CpuDevice& device_;
  Conv2dSpec spec_;
  std::int64_t max_batch_;
  ActivationSpec f_;        // of a frozen one
  const Kernels* kernels_;  // of the last forward(), as are the winners
  std::int64_t lanes_;
  PooledWindows at_;
  std::int64_t chunk_;  // images
  std::int64_t span_;   // the kernel's, in whole vectors
  // By winograd.h, where that suits.
  std::unique_ptr<Conv2d> whole_;
  std::unique_ptr<tensor::Buffer> whole_result_;
  Room images_, window_, packed_, bias_, wide_, best_, turned_, gradients_;
  std::vector<std::uint8_t> winners_;  // [groups][filters][lanes]
  std::vector<std::int32_t> windows_;  // of each output of a chunk
  std::vector<std::int32_t> places_[4];
  std::vector<float> factors_[4];
};

}  // namespace

std::unique_ptr<Conv2d> CpuDevice::conv2d_max_pool(const Conv2dSpec& spec,
                                                   std::int64_t max_batch) {
  check_max_pool(spec, max_batch);
  if (spec.dilation[0] != 1 || spec.dilation[1] != 1 || spec.groups != 1)
    return conv2d_then_max_pool(*this, spec, max_batch);
  return std::make_unique<CpuConv2dMaxPool>(spec, max_batch, *this);
}

}  // namespace dl::device
