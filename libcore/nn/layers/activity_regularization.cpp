// What the activity of a layer costs: its size, or how far its mean over the
// mini-batch is from a rate, as in sparse autoencoders.

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/nn/keys.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layer_type.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class ActivityRegularization final : public Layer {
 public:
  ActivityRegularization(const LayerSite& site, Memory& memory)
      : device_(*site.device),
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
    sums_ = memory.allocate({units_});
    host_ = tensor::Tensor(tensor::DType::kF64, {units_});
  }

  void forward(const Flow& flow, const Step& step) override {
    if (step.examples > 0 && flow.y.data != flow.x[0].data)
      device_.copy(flow.y, flow.x[0]);
    if (!step.training) return;
    const View y = rows(flow.y);
    loss_ = 0;
    if (step.examples > 0 && l1_ > 0)
      loss_ +=
          l1_ * device_.loss({.kind = tensor::Loss::kL1}, signs_.at(0, y.shape),
                             y, zeros_.at(0, y.shape), {},
                             l1_ / static_cast<double>(step.total));
    if (step.examples > 0 && l2_ > 0)
      loss_ += 0.5 * l2_ * device_.sum_squares(y);
    if (rate_ > 0) compare_rates(y, step);
  }

  double own_loss() const override { return loss_; }

  void backward(const Flow& flow, const Step& step) override {
    if (step.examples == 0) return;
    const View dx = rows(flow.dx[0]), y = rows(flow.y);
    if (dx.data != flow.dy.data) device_.copy(dx, rows(flow.dy));
    if (l1_ > 0) device_.add(dx, 1, signs_.at(0, y.shape));
    if (l2_ > 0) device_.add(dx, l2_ / static_cast<double>(step.total), y);
    if (rate_ > 0) device_.add_bias(dx, sums_);
  }

 private:
  View rows(View all) const {
    return all.reshaped({all.elements() / units_, units_});
  }

  // The divergence of each unit's mean over the mini-batch, which the lane with
  // its first example counts, and its gradient, the same for all examples.
  void compare_rates(View y, const Step& step) {
    if (step.examples > 0)
      device_.sum_rows(sums_, y);
    else
      device_.fill(sums_, 0);
    step.lanes->all_reduce(sums_);
    device_.download(host_, sums_);
    const auto total = static_cast<double>(step.total);
    const double n = total * static_cast<double>(copies_);
    double divergence = 0;
    for (double& unit : host_.as<double>()) {
      const double r = std::clamp(unit / n, 1e-6, 1 - 1e-6);
      divergence += rate_ * std::log(rate_ / r) +
                    (1 - rate_) * std::log((1 - rate_) / (1 - r));
      unit = weight_ * ((1 - rate_) / (1 - r) - rate_ / r) / n;
    }
    device_.upload(sums_, host_);
    if (step.examples > 0 && step.first == 0)
      loss_ += weight_ * divergence * total;
  }

  tensor::Device& device_;
  std::int64_t copies_, units_;
  double l1_, l2_, rate_ = 0, weight_ = 0, loss_ = 0;
  View signs_, zeros_;
  View sums_;  // of each unit's activity; then the gradient of what they cost
  tensor::Tensor host_;
};

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  if (inputs[0].steps)
    throw Error{Code::kConfig, "its input is a sequence; want one activity"};
  return {.output = inputs[0],
          .manners = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_inputs = false},
          .summed = settings.has("sparsity") ? inputs[0].shape.elements() : 0};
}

}  // namespace

const LayerType& activity_regularization() {
  static const LayerType type{
      .name = "activity_regularization",
      .words =
          "Gives what goes in, and adds what that costs to the loss of an "
          "example: *l1* times\n"
          "the sum of |x|, *l2* times the sum of x^2 / 2.\n"
          "With a *sparsity* of p each unit is to be active at this rate: r "
          "being its mean over\n"
          "the mini-batch, between 0 and 1 as behind a *sigmoid*, "
          "*sparsity_weight* times the\n"
          "sum of p log(p / r) + (1 - p) log((1 - p) / (1 - r)) is added to "
          "the mini-batch's loss.",
      .other_names = {"activityregularizer"},
      .keys =
          {key::number("l1", "0", "The weight of absolute values.", kAtLeast0),
           key::number("l2", "0", "The weight of squares.", kAtLeast0),
           key::number("sparsity", "(none)",
                       "The rate at which units are to be active.", "(0, 1)"),
           key::number("sparsity_weight", "1",
                       "What being active at another rate costs.", kAtLeast0)},
      .adds_loss = true,
      .disturbs = true,
      .plan = plan,
      .make = make<ActivityRegularization>};
  return type;
}

}  // namespace dl::nn::layers
