// The cost of the activity of a layer: its size, or how far its mean over the
// mini-batch is from a rate, as in sparse autoencoders.

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class ActivityRegularization final : public Layer {
 public:
  ActivityRegularization(const LayerSite& site, Memory& memory)
      : device_(*site.device),
        sum_(site.loss),
        copies_(site.output.copies),
        units_(site.output.shape.elements()),
        l1_(site.settings->number("l1")),
        l2_(site.settings->number("l2")) {
    if (!site.training) return;
    if (l1_ > 0) {
      signs_ = memory.allocate({site.max_batch, units_});
      zeros_ = memory.allocate(signs_.shape);
      device_.fill(zeros_, 0);
    }
    if (!site.settings->has("sparsity")) return;
    rate_ = site.settings->number("sparsity");
    weight_ = site.settings->number("sparsity_weight");
    for (View* one : {&rates_, &slopes_, &wanted_, &least_, &most_})
      *one = memory.allocate({1, units_});
    which_ = memory.allocate({1, units_}, tensor::DType::kI32);
    device_.fill(wanted_, rate_);
    device_.fill(least_, kSmallRate);
    device_.fill(most_, 1 - kSmallRate);
  }

  void forward(const Flow& flow, const Step& step) override {
    if (step.examples > 0 && flow.y.data != flow.x[0].data)
      device_.copy(flow.y, flow.x[0]);
    if (!step.training) return;
    const View y = rows(flow.y);
    const auto total = static_cast<double>(step.total);
    if (step.examples > 0 && l1_ > 0)
      device_.loss(sum_, {.kind = device::Loss::kL1}, signs_.at(0, y.shape), y,
                   zeros_.at(0, y.shape), {}, l1_ / total);
    if (step.examples > 0 && l2_ > 0)
      device_.add_squares(sum_, 0.5 * l2_ / total, y);
    if (rate_ > 0) compare_rates(y, step);
  }

  void backward(const Flow& flow, const Step& step) override {
    if (step.examples == 0) return;
    const View dx = rows(flow.dx[0]), y = rows(flow.y);
    if (dx.data != flow.dy.data) device_.copy(dx, rows(flow.dy));
    if (l1_ > 0) device_.add(dx, 1, signs_.at(0, y.shape));
    if (l2_ > 0) device_.add(dx, l2_ / static_cast<double>(step.total), y);
    if (rate_ > 0) device_.add_bias(dx, slopes_.reshaped({units_}));
  }

 private:
  View rows(View all) const {
    return all.reshaped({all.elements() / units_, units_});
  }

  // The divergence of each unit's mean over the mini-batch, which the lane with
  // its first example counts, and its gradient, the same for all examples: a
  // cross-entropy less what is reached where the rates are equal.
  void compare_rates(View y, const Step& step) {
    if (step.examples > 0)
      device_.sum_rows(rates_.reshaped({units_}), y);
    else
      device_.fill(rates_, 0);
    step.lanes->all_reduce(rates_);
    const double n = static_cast<double>(step.total * copies_);
    device_.scale(rates_, 1 / n);
    const View low[] = {rates_, least_}, high[] = {slopes_, most_};
    device_.extreme(slopes_, which_, low, tensor::Extreme::kMax);
    device_.extreme(rates_, which_, high, tensor::Extreme::kMin);
    const View counted = step.examples > 0 && step.first == 0 ? sum_ : View{};
    device_.loss(counted, {.kind = device::Loss::kBinaryCrossEntropy}, slopes_,
                 rates_, wanted_, {}, weight_);
    device_.scale(slopes_, 1 / n);
    const double least =
        -std::log(rate_) - (1 - rate_) / rate_ * std::log(1 - rate_);
    if (!counted.empty()) device_.add_sum(counted, -weight_ * least, wanted_);
  }

  // Rates that differ from 0 and 1 by less count as if by this.
  static constexpr double kSmallRate = 1e-6;

  device::Device& device_;
  View sum_;  // of losses
  std::int64_t copies_, units_;
  double l1_, l2_, rate_ = 0, weight_ = 0;
  View signs_, zeros_;
  View rates_, slopes_;  // of each unit, and what they cost an example's input
  View wanted_, least_, most_, which_;
};

LayerShape infer_activity_regularization(const LayerSettings& settings,
                                         std::span<const ValueSpec> inputs) {
  if (inputs[0].steps)
    throw Error{Code::kConfig, "its input is a sequence; want one activity"};
  return {.output = inputs[0],
          .buffers = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_inputs = false},
          .summed = settings.has("sparsity") ? inputs[0].shape.elements() : 0};
}

}  // namespace

const LayerType& activity_regularization() {
  static const LayerType type{
      .name = "activity_regularization",
      .words =
          "Passes its input on, which must not be a sequence, and adds a "
          "penalty to the loss of an\n"
          "example: *l1* times the sum of |x|, *l2* times the sum of x^2 / 2.\n"
          "With a *sparsity* of p each unit should have this mean activity. "
          "With r its mean over the\n"
          "mini-batch, between 0 and 1 as behind a *sigmoid*, "
          "*sparsity_weight* times the sum of p log(p / r) + (1 - p) log((1 - "
          "p) / (1 - r)) is added to the mini-batch's loss.",
      .other_names = {"activityregularizer"},
      .keys = {key::number("l1", "0", "The weight of absolute values.",
                           kAtLeast0),
               key::number("l2", "0", "The weight of squares.", kAtLeast0),
               key::number("sparsity", "(none)",
                           "Mean activity that units should have.", "(0, 1)"),
               key::number("sparsity_weight", "1",
                           "Weight of the penalty for another rate.",
                           kAtLeast0)},
      .adds_loss = true,
      .disturbs = true,
      .infer = infer_activity_regularization,
      .make = make<ActivityRegularization>};
  return type;
}

}  // namespace dl::nn::layers
