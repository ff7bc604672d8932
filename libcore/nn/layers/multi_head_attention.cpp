// y = W_o attention(W_q q, W_k k, W_v k), with biases (Vaswani et al. 2017).

#include <array>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/rows.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

// y = x w' + b, for rows.
class Projection {
 public:
  // The first of the two parameters of four projections in a row.
  Projection(const LayerSite& site, std::size_t first, bool bias)
      : device_(site.device),
        product_(site.device->dense()),
        weight_(site.parameter(first)),
        weight_gradient_(site.gradient(first)) {
    if (!bias) return;
    bias_ = site.parameter(first + 1);
    bias_gradient_ = site.gradient(first + 1);
  }

  void forward(View y, View x) {
    product_->forward(as_rows(y, units()), as_rows(x, inputs()),
                      frozen_ ? View{} : weight_, frozen_ ? View{} : bias_, {});
  }
  void freeze() { frozen_ = product_->freeze(weight_, bias_, {}); }
  void freeze_like(const Projection& twin) {
    if (!twin.frozen_) return freeze();
    product_->freeze_like(*twin.product_);
    frozen_ = true;
  }
  // An empty dx is left out; with `add`, it is added to.
  void backward(View dx, bool add, View dy, View x) {
    dy = as_rows(dy, units());
    device_->matmul(weight_gradient_, dy, true, as_rows(x, inputs()), false, 0);
    if (!bias_.empty()) device_->sum_rows(bias_gradient_, dy);
    if (!dx.empty())
      device_->matmul(as_rows(dx, inputs()), dy, false, weight_, false,
                      add ? 1 : 0);
  }

 private:
  std::int64_t units() const { return weight_.shape[0]; }
  std::int64_t inputs() const { return weight_.shape[1]; }

  device::Device* device_;
  std::unique_ptr<device::Dense> product_;
  View weight_, bias_, weight_gradient_, bias_gradient_;
  bool frozen_ = false;  // the product has weight and bias
};

device::AttentionSpec spec_of(const LayerSettings& settings,
                              const ValueSpec& queries, const ValueSpec& keys) {
  return {.queries = queries.shape[0],
          .keys = keys.shape[0],
          .heads = settings.integer("heads"),
          .head_size = settings.integer("head_size"),
          .causal = settings.flag("causal")};
}

class MultiHeadAttention final : public Layer {
 public:
  MultiHeadAttention(const LayerSite& site, Memory& memory)
      : spec_(spec_of(*site.settings, site.inputs.front(), site.inputs.back())),
        attention_(site.device->attention(spec_, site.max_batch)),
        projections_{projection(site, 0), projection(site, 1),
                     projection(site, 2), projection(site, 3)} {
    const std::int64_t n = site.max_batch;
    for (View* v : {&q_, &mixed_})
      *v = memory.allocate({n, spec_.queries, spec_.size()});
    for (View* v : {&k_, &v_})
      *v = memory.allocate({n, spec_.keys, spec_.size()});
    if (!site.training) return;
    for (View* v : {&dq_, &dmixed_}) *v = memory.allocate(q_.shape);
    for (View* v : {&dk_, &dv_}) *v = memory.allocate(k_.shape);
  }

  void freeze() override {
    for (Projection& p : projections_) p.freeze();
  }
  void freeze_like(Layer& twin) override {
    const auto& other = static_cast<MultiHeadAttention&>(twin);
    for (std::size_t i = 0; i < projections_.size(); ++i)
      projections_[i].freeze_like(other.projections_[i]);
  }

  void forward(const Flow& flow, const Step& step) override {
    n_ = flow.y.shape[0];
    projections_[0].forward(of(q_), flow.x.front());
    projections_[1].forward(of(k_), flow.x.back());
    projections_[2].forward(of(v_), flow.x.back());
    attention_->forward(of(mixed_), of(q_), of(k_), of(v_), flow.masks.back(),
                        step.training);
    projections_[3].forward(flow.y, of(mixed_));
  }

  void backward(const Flow& flow, const Step&) override {
    n_ = flow.dy.shape[0];
    projections_[3].backward(of(dmixed_), false, flow.dy, of(mixed_));
    attention_->backward(of(dq_), of(dk_), of(dv_), of(dmixed_), of(q_), of(k_),
                         of(v_), flow.masks.back());
    const bool self = flow.x.size() == 1;
    projections_[0].backward(flow.dx.front(), false, of(dq_), flow.x.front());
    projections_[1].backward(flow.dx.back(), self, of(dk_), flow.x.back());
    projections_[2].backward(flow.dx.back(), true, of(dv_), flow.x.back());
  }

  // Mask of the queries, if keys have another.
  View mask(const Flow& flow) override { return flow.masks.front(); }

 private:
  static Projection projection(const LayerSite& site, std::size_t i) {
    const bool bias = site.settings->flag("bias");
    return {site, i * (bias ? 2 : 1), bias};
  }
  View of(View v) const {
    return v.at(0, v.shape.without_first().with_first(n_));
  }

  device::AttentionSpec spec_;
  std::unique_ptr<device::Attention> attention_;
  std::array<Projection, 4> projections_;  // of q, k, v and the output
  View q_, k_, v_, mixed_, dq_, dk_, dv_, dmixed_;
  std::int64_t n_ = 0;
};

void check_inputs(std::span<const ValueSpec> inputs) {
  for (const ValueSpec& form : inputs)
    if (form.shape.rank() != 2)
      throw Error{Code::kConfig,
                  "wants sequences [steps, features], its input is " +
                      form.shape.to_string() + steps_hint(form.shape)};
  if (inputs.front().copies != inputs.back().copies)
    throw Error{Code::kConfig, "one of its inputs is stacked, the other not"};
}

LayerShape infer_multi_head_attention(const LayerSettings& settings,
                                      std::span<const ValueSpec> inputs) {
  check_inputs(inputs);
  const ValueSpec &queries = inputs.front(), &keys = inputs.back();
  const device::AttentionSpec spec = spec_of(settings, queries, keys);
  const std::int64_t width = queries.shape[1], own = keys.shape[1];
  LayerShape plan{.output = queries,
                  .buffers = {.keeps_output = false},
                  .mask = queries.steps ? MaskRule::kMade : MaskRule::kNone};
  if (inputs.size() == 1) plan.mask = MaskRule::kPassed;
  const auto add = [&](const std::string& name, std::int64_t in,
                       std::int64_t out, std::int64_t steps) {
    plan.parameters.push_back(
        {.name = name + "_weight",
         .shape = checked_shape({out, in}, name + "_weight"),
         .fan_in = in,
         .fan_out = out});
    if (settings.flag("bias"))
      plan.parameters.push_back(
          {.name = name + "_bias", .shape = {out}, .role = Role::kBias});
    plan.flops += 2 * static_cast<double>(steps) * static_cast<double>(in) *
                  static_cast<double>(out);
  };
  const std::int64_t size =
      checked_shape({spec.heads, spec.head_size}, "a query").elements();
  add("query", width, size, spec.queries);
  add("key", own, size, spec.keys);
  add("value", own, size, spec.keys);
  add("output", size, width, spec.queries);
  plan.flops += 4 * static_cast<double>(spec.queries) *
                static_cast<double>(spec.keys) * static_cast<double>(size);
  check_size(
      checked_shape({std::max(spec.queries, spec.keys), size}, "its keys"),
      "its keys");
  return plan;
}

}  // namespace

const LayerType& multi_head_attention() {
  static const LayerType type{
      .name = "multi_head_attention",
      .words =
          "Scaled dot product attention (Vaswani et al. 2017): queries, keys "
          "and values are linear\n"
          "projections of each step; the concatenated outputs of the *heads* "
          "are projected to the\n"
          "width of the input.\n"
          "With one input, each step attends to all of its steps "
          "(self-attention); with two, steps\n"
          "of the first attend to those of the second. Padding is not attended "
          "to.",
      .other_names = {"selfattention", "multiheadattention", "attention"},
      .keys = {key::integer("heads", "required", "Attentions side by side.",
                            kSmall),
               key::integer("head_size", "required",
                            "Numbers of a query in each head.", kSmall),
               key::flag("causal", "false",
                         "Lets a step see only itself and those before it."),
               key::flag("bias", "true", "Adds a bias to each projection.")},
      .trains = Trains::kWeights,
      .reads_sequences = true,
      .inputs = {1, 2},
      .infer = infer_multi_head_attention,
      .make = make<MultiHeadAttention>};
  return type;
}

}  // namespace dl::nn::layers
