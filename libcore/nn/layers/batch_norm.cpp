// Batch normalization over all but the last dimension.
//
// In training, mean and variance (of the population: divided by the count) are
// those of the whole mini-batch, over all lanes; the running statistics move
// by running = decay * running + (1 - decay) * batch.  A mini-batch that is
// short moves them by its share of a step, so that each example counts alike.
// Each of several workers sees one mini-batch of so many, and moves them for
// the others.  Steps that are padding do not count.  Elsewhere the running ones
// are used, folded into the layer before where that can take them.

#include "libcore/nn/layers/batch_norm.h"

#include <cmath>

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class BatchNorm final : public Layer {
 public:
  enum class Behind { kNothing, kRelu, kSumAndRelu };
  BatchNorm(const LayerSite& site, Memory& memory,
            Behind behind = Behind::kNothing)
      : site_(site),
        decay_(site.settings->number("decay")),
        epsilon_(site.settings->number("epsilon")),
        behind_(behind) {
    if (!site.training) return;
    const std::int64_t c = site.output.shape.back();
    if (site.frozen) {
      mean_ = site.statistics[0];
      variance_ = site.statistics[1];
      zero_ = memory.allocate({c});
      return;
    }
    mean_ = memory.allocate({c});
    variance_ = memory.allocate({c});
    sums_ = memory.allocate({2 * c});
    sum_dy_xhat_ = sums_.at(0, {c});
    sum_dy_ = sums_.at(c, {c});
    if (!site.output.steps) return;
    counted_ = memory.allocate({c});
    for (View* one : {&steps_, &one_, &at_least_1_})
      *one = memory.allocate({1});
    which_ = memory.allocate({1}, tensor::DType::kI32);
    site.device->fill(one_, 1);
    zero_ = memory.allocate({c});
    shift_ = memory.allocate({c});
    scratch_ = memory.allocate(site.output.shape.with_first(site.max_batch));
  }

  void forward(const Flow& flow, const Step& step) override {
    if (!step.training || site_.frozen)
      return normalise(flow, site_.statistics[0], site_.statistics[1]);
    const double decay = std::pow(
        decay_, static_cast<double>(step.at.concurrent_replicas) * step.share);
    if (!measure_at_once(flow, step, decay)) {
      measure(flow, step);
      if (site_.keeps_statistics) {
        move(site_.statistics[0], mean_, decay);
        move(site_.statistics[1], variance_, decay);
      }
    }
    if (step.examples > 0) normalise(flow, mean_, variance_);
  }

  void backward(const Flow& flow, const Step& step) override {
    device::Device& device = *site_.device;
    if (behind_ == Behind::kSumAndRelu && step.examples > 0)
      device.activate_gradient({device::Activation::kRelu}, flow.dy, flow.dy,
                               flow.y, {});
    if (site_.frozen) {
      if (!flow.dx[0].empty()) scale_back(flow.dx[0], flow);
      return;
    }
    if (step.lanes->alone() && !site_.output.steps && step.examples > 0) {
      const View dgamma = site_.gradients[0], dbeta = site_.gradients[1];
      device.batch_norm_sums(by(mean_, variance_), dgamma, dbeta, flow.dy,
                             flow.x[0]);
      if (!flow.dx[0].empty())
        device.batch_norm_gradient(by(mean_, variance_), flow.dx[0], flow.dy,
                                   flow.x[0], dbeta, dgamma,
                                   values_in(step.total));
      return;
    }
    if (step.examples > 0)
      device.batch_norm_sums(by(mean_, variance_), sum_dy_xhat_, sum_dy_,
                             flow.dy, flow.x[0]);
    else
      device.fill(sums_, 0);
    device.copy(site_.gradients[0], sum_dy_xhat_);
    device.copy(site_.gradients[1], sum_dy_);
    if (flow.dx[0].empty()) return;
    step.lanes->all_reduce(sums_);
    if (site_.output.steps) {
      divide(sum_dy_, step);
      divide(sum_dy_xhat_, step);
    }
    const double count = site_.output.steps ? 1 : values_in(step.total);
    if (step.examples > 0)
      device.batch_norm_gradient(by(mean_, variance_), flow.dx[0], flow.dy,
                                 flow.x[0], sum_dy_, sum_dy_xhat_, count);
    if (step.examples > 0 && !flow.masks[0].empty()) spare_padding(flow);
  }

 private:
  device::BatchNorm by(View mean, View variance) const {
    return {.mean = mean,
            .variance = variance,
            .gamma = site_.parameters[0],
            .beta = site_.parameters[1],
            .epsilon = epsilon_,
            .relu = behind_ == Behind::kRelu};
  }

  // Values of a channel in so many examples.
  double values_in(std::int64_t examples) const {
    const std::int64_t values =
        examples * site_.output.copies *
        (site_.output.shape.elements() / site_.output.shape.back());
    return static_cast<double>(values);
  }

  // Number of steps in sequences: those of the mini-batch that are not padding,
  // at least 1, for each channel.
  void count(View mask, const Step& step) {
    device::Device& device = *site_.device;
    const tensor::Shape& shape = site_.output.shape;
    const std::int64_t channels = shape.back(),
                       each = shape.elements() / shape[0] / channels;
    if (mask.empty())
      device.fill(steps_, values_in(step.examples) / static_cast<double>(each));
    else
      device.sum_rows(steps_, mask.reshaped({mask.elements(), 1}));
    step.lanes->all_reduce(steps_);
    const View some[] = {steps_, one_};
    device.extreme(at_least_1_, which_, some, tensor::Extreme::kMax);
    device.scale(at_least_1_, static_cast<double>(each));
    device.copy_strided(device::Strided().over(channels, 1, 0), counted_,
                        at_least_1_, false);
  }

  // Sums over the mini-batch become means.
  void divide(View sums, const Step& step) {
    if (site_.output.steps)
      site_.device->divide(sums, sums, counted_);
    else
      site_.device->scale(sums, 1 / values_in(step.total));
  }

  // The steps of v that are padding become 0, whatever a step is.
  void clear_padding(View v, View mask) {
    const std::int64_t n = v.shape[0], steps = v.shape[1];
    site_.device->mask_steps(v.reshaped({n, steps, v.elements() / (n * steps)}),
                             mask);
  }

  // x + shift without its padding.
  View without_padding(View x, View shift, View mask) {
    const View real = scratch_.at(0, x.shape);
    site_.device->copy(real, x);
    site_.device->add_bias(real, shift);
    clear_padding(real, mask);
    return real;
  }

  void sum_of(View sum, View x, View mask) {
    if (!mask.empty()) x = without_padding(x, zero_, mask);
    site_.device->sum_rows(sum, x);
  }

  void sum_squares_of(View sum, View x, View mask) {
    device::Device& device = *site_.device;
    if (mask.empty()) return device.sum_squares_about(sum, x, mean_);
    device.copy(shift_, mean_);
    device.scale(shift_, -1);
    device.sum_squares_about(sum, without_padding(x, shift_, mask), zero_);
  }

  // As if mean and variance did not depend on x.
  void scale_back(View dx, const Flow& flow) {
    site_.device->batch_norm_gradient(by(mean_, variance_), dx, flow.dy,
                                      flow.x[0], zero_, zero_, 1);
  }

  // Mean and variance do not depend on padding.
  void spare_padding(const Flow& flow) {
    device::Device& device = *site_.device;
    const View dx = flow.dx[0], alone = scratch_.at(0, dx.shape);
    scale_back(alone, flow);
    device.add(dx, -1, alone);
    clear_padding(dx, flow.masks[0]);
    device.add(dx, 1, alone);
  }

  // Where no other lane has a part, and no step may be padding.
  bool measure_at_once(const Flow& flow, const Step& step, double decay) {
    if (!step.lanes->alone() || site_.output.steps || step.examples == 0)
      return false;
    const bool keeps = site_.keeps_statistics;
    return site_.device->batch_statistics(
        {mean_, variance_, keeps ? site_.statistics[0] : View{},
         keeps ? site_.statistics[1] : View{}, decay},
        flow.x[0]);
  }

  void measure(const Flow& flow, const Step& step) {
    device::Device& device = *site_.device;
    const bool some = step.examples > 0;
    const View x = flow.x[0], mask = some ? flow.masks[0] : View{};
    if (site_.output.steps) count(mask, step);
    some ? sum_of(mean_, x, mask) : device.fill(mean_, 0);
    step.lanes->all_reduce(mean_);
    divide(mean_, step);
    some ? sum_squares_of(variance_, x, mask) : device.fill(variance_, 0);
    step.lanes->all_reduce(variance_);
    divide(variance_, step);
  }

  void normalise(const Flow& flow, View mean, View variance) {
    device::BatchNorm spec = by(mean, variance);
    if (behind_ == Behind::kSumAndRelu) {
      spec.added = flow.x[1];
      spec.relu = true;
    }
    site_.device->batch_norm(spec, flow.y, flow.x[0]);
  }

  void move(View running, View batch, double decay) {
    site_.device->scale(running, decay);
    site_.device->add(running, 1 - decay, batch);
  }

  LayerSite site_;
  double decay_, epsilon_;
  Behind behind_;
  View mean_, variance_;  // of this mini-batch
  View sums_, sum_dy_xhat_, sum_dy_;
  // Buffers for sequences, which may have padding:
  View steps_, one_, at_least_1_, which_, counted_;
  View zero_, shift_, scratch_;
};

LayerShape infer_batch_norm(const LayerSettings&,
                            std::span<const ValueSpec> inputs) {
  const tensor::Shape columns{inputs[0].shape.back()};
  return {
      .output = inputs[0],
      .parameters = {{.name = "gamma",
                      .shape = columns,
                      .role = Role::kOther,
                      .start = 1},
                     {.name = "beta", .shape = columns, .role = Role::kOther}},
      .statistics = {{.name = "running_mean",
                      .shape = columns,
                      .role = Role::kStatistic},
                     {.name = "running_variance",
                      .shape = columns,
                      .role = Role::kStatistic,
                      .start = 1}},
      .flops = 2 * numbers_in(inputs[0].shape),
      .buffers = {.in_place = true, .keeps_output = false},
      .step_by_step = true,
      .summed = 2 * columns[0]};
}

}  // namespace

std::unique_ptr<Layer> make_batch_norm_relu(const LayerSite& site,
                                            Memory& memory) {
  return std::make_unique<BatchNorm>(site, memory, BatchNorm::Behind::kRelu);
}

std::unique_ptr<Layer> make_residual_end(const LayerSite& site,
                                         Memory& memory) {
  return std::make_unique<BatchNorm>(site, memory,
                                     BatchNorm::Behind::kSumAndRelu);
}

BufferPolicy manners_of_residual_end() {
  return {.in_place = true, .spoils_gradient = true, .passes_rest = true};
}

const LayerType& batch_norm() {
  static const LayerType type{
      .name = "batch_norm",
      .words =
          "y = gamma (x - mean) / sqrt(variance + epsilon) + beta, for each "
          "index of the\n"
          "last dimension.\n"
          "In training, mean and variance (of the population) are those of the "
          "worker's\n"
          "mini-batch, without padding steps, and the running statistics are "
          "updated:\n"
          "running = decay running + (1 - decay) batch, in sharing by default\n"
          "with decay^workers.\n"
          "A mini-batch with fewer examples, such as the last one of an epoch, "
          "moves them by\n"
          "less: with decay^(examples / --batch).\n"
          "Outside training the running statistics are used.\n"
          "gamma starts at 1, beta at 0.",
      .other_names = {"batchnormalization", "batchnorm2d"},
      .keys = {key::number("decay", "0.9",
                           "Share of the running statistics kept in each step.",
                           kShare),
               key::number("epsilon", "1e-5", "Added to the variance.",
                           kOver0)},
      .trains = Trains::kOthers,
      .infer = infer_batch_norm,
      .make = make<BatchNorm>};
  return type;
}

}  // namespace dl::nn::layers
