// The code of a variational autoencoder (Kingma and Welling 2013): drawn from
// the normal distribution that its input says, and kept near N(0, 1).
//
// The random numbers follow, as those of dropout do, from the network's seed,
// the name of the mini-batch, the layer and the place of the example in the
// mini-batch, never from the lane or host that computes it.

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

using device::Strided;
using tensor::View;

// z = mean + deviation * noise, for each sample; log variance = 2 log
// deviation.
class GaussianLatent final : public Layer {
 public:
  GaussianLatent(const LayerSite& site, Memory& memory)
      : site_(site),
        device_(*site.device),
        units_(site.output.shape.elements()),
        samples_(site.settings->integer("samples")),
        weight_(site.settings->number("kl_weight")) {
    if (!site.training) return;
    const std::int64_t n = site.max_batch * units_;
    for (View* one : {&mean_, &deviation_, &ones_, &sum_, &part_})
      *one = memory.allocate({n});
    noise_ = memory.allocate({n * samples_});
    device_.fill(ones_, 1);
  }

  void forward(const Flow& flow, const Step& step) override {
    const std::int64_t n = flow.x[0].shape[0], own = n * units_;
    if (!step.training) {
      for (std::int64_t i = 0; i < samples_; ++i)
        device_.copy_strided(half(n, 0).exchanged(), sample(flow.y, i, own),
                             flow.x[0], false);
      return;
    }
    const View mean = mean_.at(0, {own}), deviation = deviation_.at(0, {own});
    device_.copy_strided(half(n, 0).exchanged(), mean, flow.x[0], false);
    device_.copy_strided(half(n, units_).exchanged(), deviation, flow.x[0],
                         false);
    // KL(N(mean, deviation^2) || N(0, 1)); first what is of the logarithm of
    // the variance, before it is lost.
    const double half_weight = 0.5 * weight_ / static_cast<double>(step.total);
    device_.add_sum(site_.loss, -half_weight, deviation);
    device_.add_sum(site_.loss, -half_weight, ones_.at(0, {own}));
    device_.scale(deviation, 0.5);
    device_.activate({.kind = device::Activation::kExp}, deviation, deviation);
    device_.add_squares(site_.loss, half_weight, mean);
    device_.add_squares(site_.loss, half_weight, deviation);
    const auto stream =
        mix({step.at.batch, static_cast<std::uint64_t>(site_.index)});
    for (std::int64_t i = 0; i < samples_; ++i) {
      const View y = sample(flow.y, i, own), noise = sample(noise_, i, own);
      device_.normal(
          noise, 0, 1, site_.seed, stream,
          static_cast<std::uint64_t>((i * step.total + step.first) * units_));
      device_.multiply(y, noise, deviation);
      device_.add(y, 1, mean);
    }
  }

  void backward(const Flow& flow, const Step& step) override {
    const std::int64_t n = flow.dx[0].shape[0], own = n * units_;
    const double scale = weight_ / static_cast<double>(step.total);
    const View mean = mean_.at(0, {own}), deviation = deviation_.at(0, {own}),
               sum = sum_.at(0, {own}), part = part_.at(0, {own});
    device_.copy(sum, mean);
    device_.scale(sum, scale);
    for (std::int64_t i = 0; i < samples_; ++i)
      device_.add(sum, 1, sample(flow.dy, i, own));
    device_.copy_strided(half(n, 0), flow.dx[0], sum, false);
    // Gradient of the log variance: deviation / 2 times what the noise says,
    // and (variance - 1) / 2 of the divergence.
    device_.fill(sum, 0);
    for (std::int64_t i = 0; i < samples_; ++i) {
      device_.multiply(part, sample(flow.dy, i, own), sample(noise_, i, own));
      device_.add(sum, 0.5, part);
    }
    device_.multiply(sum, sum, deviation);
    device_.multiply(part, deviation, deviation);
    device_.add(sum, 0.5 * scale, part);
    device_.add(sum, -0.5 * scale, ones_.at(0, {own}));
    device_.copy_strided(half(n, units_), flow.dx[0], sum, false);
  }

 private:
  static View sample(View all, std::int64_t i, std::int64_t elements) {
    return all.at(i * elements, {elements});
  }

  // Where numbers [n, units] lie in the input [n, 2 units], from `offset` on.
  Strided half(std::int64_t n, std::int64_t offset) const {
    Strided s;
    s.over(n, 2 * units_, units_).over(units_, 1, 1);
    s.y_offset = offset;
    return s;
  }

  LayerSite site_;
  device::Device& device_;
  std::int64_t units_, samples_;
  double weight_;
  View mean_, deviation_, noise_;  // of the step in progress
  View ones_, sum_, part_;
};

LayerShape infer_gaussian_latent(const LayerSettings& settings,
                                 std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  const std::int64_t samples = settings.integer("samples");
  if (input.steps)
    throw Error{Code::kConfig,
                "its input is a sequence; want one code for the whole of it"};
  if (input.shape.elements() % 2 != 0)
    throw Error{Code::kConfig,
                "its input is " + input.shape.to_string() +
                    ", want means and as many logarithms of variances"};
  if (samples > 1 && input.copies > 1)
    throw Error{Code::kConfig, "its input is a stack; draw one sample of each"};
  return {.output = {.shape = {input.shape.elements() / 2},
                     .copies = input.copies * samples},
          .buffers = {.keeps_inputs = false, .keeps_output = false}};
}

}  // namespace

const LayerType& gaussian_latent() {
  static const LayerType type{
      .name = "gaussian_latent",
      .words =
          "The code of a variational autoencoder.\n"
          "The first half of its input are means m, the second half logarithms "
          "of variances v.\n"
          "In training its output is m + exp(v / 2) e, where e are random "
          "numbers of N(0, 1), and\n"
          "*kl_weight* times the divergence from N(0, 1), the sum of (m^2 + "
          "exp(v) - v - 1) / 2, is\n"
          "added to the loss of an example; outside training its output is m.\n"
          "With several *samples*, later layers see each as an example of its "
          "own, and the loss of\n"
          "an example is the mean of theirs.",
      .other_names = {"variationalautoencoder", "vae", "sampling"},
      .keys = {key::number("kl_weight", "1",
                           "Weight of the divergence in the loss.", kAtLeast0),
               key::integer("samples", "1", "Codes drawn for each example.",
                            kSmall)},
      .adds_loss = true,
      .infer = infer_gaussian_latent,
      .make = make<GaussianLatent>};
  return type;
}

}  // namespace dl::nn::layers
