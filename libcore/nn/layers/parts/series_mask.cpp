// Masks of series under windows.

#include "libcore/nn/layers/parts/series_mask.h"

namespace dl::nn::layers {

using tensor::View;

MaskRule series_mask_rule(const ValueSpec& input, const ValueSpec& output) {
  if (!input.steps) return MaskRule::kNone;
  return input.shape[0] == output.shape[0] ? MaskRule::kPassed
                                           : MaskRule::kMade;
}

SeriesMask::SeriesMask(const LayerSite& site, Memory& memory)
    : device_(site.device) {
  if (!site.inputs[0].steps) return;  // then there is no mask
  const std::int64_t n = site.max_batch, steps = site.input()[0];
  x_ = memory.allocate(site.input().with_first(n));
  instead_ = memory.allocate({n, steps});
  any_ = memory.allocate({n, site.output.shape[0]});
  share_ = memory.allocate(any_.shape);
  Window window = window_of(*site.settings);
  window.kernel[0] = (window.kernel[0] - 1) * window.dilation[0] + 1;
  window.dilation[0] = 1;
  const auto pooling = [&](device::Pooling kind) {
    return device_->pool2d(pool2d_spec(window, {steps, 1}, kind), n);
  };
  any_of_ = pooling(device::Pooling::kMax);
  share_of_ = pooling(device::Pooling::kAverage);
}

View SeriesMask::kept(const View& x, const View& mask) const {
  return mask.empty() ? x : x_.at(0, x.shape);
}

View SeriesMask::apply(const View& x, const View& mask, double instead) {
  if (mask.empty()) return x;
  const View masked = kept(x, mask);
  device_->scale_rows(masked, x, mask, false);
  if (instead == 0) return masked;
  // (1 - mask) instead, for each feature.
  const View more = instead_.at(0, mask.shape);
  device_->fill(more, instead);
  device_->add(more, -instead, mask);
  const std::int64_t features = x.shape[2];
  device::Strided s;
  device_->copy_strided(
      s.over(more.elements(), features, 1).over(features, 1, 0), masked, more,
      true);
  return masked;
}

View SeriesMask::pool(device::Pool2d* kernel, const View& to,
                      const View& mask) {
  if (mask.empty()) return {};
  const std::int64_t n = mask.shape[0];
  const View made = to.at(0, {n, to.shape[1]});
  kernel->forward(made.reshaped({n, 1, made.shape[1], 1}),
                  mask.reshaped({n, 1, mask.shape[1], 1}), false);
  return made;
}

View SeriesMask::any(const View& mask) {
  return pool(any_of_.get(), any_, mask);
}

View SeriesMask::share(const View& mask) {
  return pool(share_of_.get(), share_, mask);
}

}  // namespace dl::nn::layers
