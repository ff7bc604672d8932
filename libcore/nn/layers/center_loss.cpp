// An output layer that draws the inputs of each class together (Y. Wen et al.,
// "A Discriminative Feature Learning Approach for Deep Face Recognition",
// 2016): lambda / 2 |x - center of x's class|^2 is added to the loss.

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/gaussian_output.h"
#include "libcore/nn/layers/parts/output.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

// The site of the layer without its centers.
LayerSite without_centers(LayerSite site) {
  site.parameters.pop_back();
  if (!site.gradients.empty()) site.gradients.pop_back();
  return site;
}

class CenterLoss final : public Output {
 public:
  CenterLoss(const LayerSite& site, Memory& memory)
      : Output(without_centers(site), memory),
        device_(site.device),
        sum_(site.loss),
        centers_(site.parameters.back()),
        gradient_(site.gradients.empty() ? View{} : site.gradients.back()),
        lambda_(site.settings->number("lambda")),
        alpha_(site.settings->number("alpha")),
        weight_(site.settings->has("loss_weight")
                    ? site.settings->number("loss_weight")
                    : 1) {
    const std::int64_t inputs = centers_.shape[1];
    const std::int64_t rows =
        site.max_batch * (site.input().elements() / inputs);
    if (!site.training) return;
    away_ = memory.allocate({rows, inputs});
    counted_ = memory.allocate({rows, inputs});
    squares_ = memory.allocate({rows});
  }

  void forward(const Flow& flow, const Step& step) override {
    Output::forward(flow, step);
    x_ = flow.x[0].reshaped(
        {flow.x[0].elements() / centers_.shape[1], centers_.shape[1]});
  }

  void loss(View grad, View y, View target, View mask, double scale) override {
    target_ = target;
    scale_ = weight_ * scale;
    const View away = away_.at(0, x_.shape), counted = counted_.at(0, x_.shape),
               squares = squares_.at(0, {x_.shape[0]});
    // Inputs near their center are to come nearer.
    device_->exact_matmul(away, target, false, centers_, false);
    device_->scale(away, -1);
    device_->add(away, 1, x_);
    if (mask.empty())
      device_->copy(counted, away);
    else
      device_->scale_rows(counted, away, mask.reshaped(squares.shape), false);
    device_->dot_rows(squares, away, counted);
    Output::loss(grad, y, target, mask, scale);
    device_->add_sum(sum_, lambda_ / 2 * scale_, squares);
  }

  void backward(const Flow& flow, const Step& step) override {
    Output::backward(flow, step);
    const View counted = counted_.at(0, x_.shape);
    if (!flow.dx[0].empty())
      device_->add(flow.dx[0].reshaped(x_.shape), lambda_ * scale_, counted);
    if (gradient_.empty()) return;
    device_->exact_matmul(gradient_, target_, true, counted, false);
    device_->scale(gradient_, -alpha_ * scale_);
  }

 private:
  device::Device* device_;
  View sum_;                 // of losses
  View centers_, gradient_;  // [units, inputs]
  double lambda_, alpha_, weight_, scale_ = 0;
  View away_, counted_, squares_;  // x - center, times the mask, |x - center|^2
  View x_, target_;                // of the step in progress, as rows
};

LayerShape infer_center_loss(const LayerSettings& settings,
                             std::span<const ValueSpec> inputs) {
  if (inputs[0].copies > 1)
    throw Error{Code::kConfig, "its input is a stack; unstack it before"};
  LayerShape plan = infer_linear(settings, inputs[0]);
  const std::int64_t units = settings.integer("units");
  const tensor::Shape centers{units,
                              plan.parameters[0].shape.elements() / units};
  plan.parameters.push_back(
      {.name = "centers", .shape = centers, .role = Role::kOther});
  plan.flops += 6 * numbers_in(centers);
  return plan;
}

void check_center_loss(const LayerSettings& settings,
                       const Complaint& complain) {
  check_loss(settings, complain);
  if (is_gaussian(settings))
    complain("loss", "'gaussian' tells no classes apart");
  if (settings.integer("units") < 2)
    complain("units", "want a unit for each of two or more classes");
}

std::vector<Key> center_loss_keys() {
  std::vector<Key> all = output_keys();
  all.push_back(key::number("lambda", "0.0002",
                            "Weight of the distance from the center.",
                            kAtLeast0));
  all.push_back(key::number(
      "alpha", "0.05",
      "Rate at which centers follow, times their updater's rate.", kAtLeast0));
  return all;
}

}  // namespace

const LayerType& center_loss() {
  static const LayerType type{
      .name = "center_loss",
      .words =
          "An *output* for classification that pulls inputs of the same class "
          "together (Wen et al.\n"
          "2016): half *lambda* times the squared distance of its input from "
          "the center of its class is\n"
          "added to the loss of an example.\n"
          "The centers [units, inputs] start at 0 and are moved towards the "
          "inputs of their\n"
          "classes by the updater, with *alpha* in place of lambda.",
      .other_names = {"centerlossoutput", "centerlossoutputlayer"},
      .keys = center_loss_keys(),
      .trains = Trains::kWeights,
      .complete = complete_output,
      .check = check_center_loss,
      .output = output_spec,
      .infer = infer_center_loss,
      .make = make<CenterLoss>};
  return type;
}

}  // namespace dl::nn::layers
