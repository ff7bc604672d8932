// Normalization of each example by itself, in training and outside alike.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_GROUP_NORM_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_GROUP_NORM_H_

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

using tensor::View;

// `positions` of an example that are normalized by themselves, each of
// `together` rows of c channels.
struct Grouping {
  std::int64_t positions, together, channels, groups;
};

// Each position of its own, of all channels.
inline Grouping by_position(const ValueSpec& form) {
  const std::int64_t c = form.shape.back();
  return {form.shape.elements() / c, 1, c, 1};
}

// All of an example together; of a sequence a step alone, as its others may be
// padding.
inline Grouping by_example(const LayerSettings& settings,
                           const ValueSpec& form) {
  const std::int64_t c = form.shape.back(), rows = form.shape.elements() / c,
                     steps = form.steps ? form.shape[0] : 1;
  return {steps, rows / steps, c, settings.integer("groups")};
}

class Normalisation : public Layer {
 public:
  Normalisation(const Grouping& by, const LayerSite& site, Memory& memory)
      : site_(site),
        by_(by),
        epsilon_(site.settings->number("epsilon")),
        statistics_(
            memory.allocate({site.max_batch * by.positions * by.groups * 2})) {}

  void forward(const Flow& flow, const Step&) override {
    site_.device->group_norm(seen(flow.y), statistics(flow.y), seen(flow.x[0]),
                             site_.parameter(0), site_.parameter(1), epsilon_);
  }

  void backward(const Flow& flow, const Step&) override {
    const View dx = flow.dx[0];
    site_.device->group_norm_gradient(dx.empty() ? dx : seen(dx),
                                      site_.gradient(0), site_.gradient(1),
                                      seen(flow.dy), seen(flow.x[0]),
                                      site_.parameter(0), statistics(flow.dy));
  }

 private:
  std::int64_t count(View v) const {
    return v.elements() / (by_.together * by_.channels);
  }
  View seen(View v) const {
    return v.reshaped({count(v), by_.together, by_.channels});
  }
  View statistics(View v) const {
    return statistics_.at(0, {count(v), by_.groups, 2});
  }

  LayerSite site_;
  Grouping by_;
  double epsilon_;
  View statistics_;
};

class LayerNorm final : public Normalisation {
 public:
  LayerNorm(const LayerSite& site, Memory& memory)
      : Normalisation(by_position(site.output), site, memory) {}
};

class GroupNorm final : public Normalisation {
 public:
  GroupNorm(const LayerSite& site, Memory& memory)
      : Normalisation(by_example(*site.settings, site.output), site, memory) {}
};

inline LayerShape infer_layer_norm(const LayerSettings&,
                                   std::span<const ValueSpec> inputs) {
  const tensor::Shape channels{inputs[0].shape.back()};
  return {
      .output = inputs[0],
      .parameters = {{.name = "gamma",
                      .shape = channels,
                      .role = Role::kOther,
                      .start = 1},
                     {.name = "beta", .shape = channels, .role = Role::kOther}},
      .flops = 8 * numbers_in(inputs[0].shape),
      .buffers = {.in_place = true,
                  .gradient_in_place = true,
                  .keeps_output = false},
      .step_by_step = true};
}

inline LayerShape infer_group_norm(const LayerSettings& settings,
                                   std::span<const ValueSpec> inputs) {
  const std::int64_t groups = settings.integer("groups");
  if (inputs[0].shape.back() % groups != 0)
    throw Error{Code::kConfig, std::to_string(groups) +
                                   " groups do not divide the channels of its "
                                   "input " +
                                   inputs[0].shape.to_string()};
  LayerShape blueprint = infer_layer_norm(settings, inputs);
  blueprint.step_by_step = inputs[0].steps;
  return blueprint;
}

inline Key epsilon() {
  return key::number("epsilon", "1e-5", "Added to the variance.", kOver0);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_GROUP_NORM_H_
