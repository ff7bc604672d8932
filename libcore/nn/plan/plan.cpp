// Decides which layers are computed, and how long values are in use.

#include "libcore/nn/plan/plan.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/nn/fusions/fusions.h"
#include "libcore/nn/plan/plan_backward.h"
#include "libcore/nn/plan/plan_joint.h"

namespace dl::nn {
namespace {

PlannedLayer planned(const NetworkConfig& config, const Layout& layout,
                     std::size_t layer) {
  const LayerConfig& own = config.layers[layer];
  return {.layer = layer,
          .settings = own.settings,
          .inputs = own.from,
          .output = config.value_of(layer),
          .buffers = layout.layers[layer].buffers,
          .summed = layout.layers[layer].summed,
          .make = own.type->make};
}

// The first of those that share parameters sets the gradient, and the rest add
// theirs; backward, the last in the network comes first.
void mark_shared(const NetworkConfig& config, Plan& plan) {
  std::vector<bool> seen(config.layers.size());
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    const std::size_t owner =
        config.layers[step->layer].shares.value_or(step->layer);
    step->adds_gradient = seen[owner];
    seen[owner] = true;
  }
}

// Gives the values of the steps their buffers.
class Values {
 public:
  Values(const NetworkConfig& config, const Layout& layout,
         const Lifetimes& lifetimes, Plan& plan)
      : config_(config), layout_(layout), lives_(lifetimes), plan_(plan) {}

  void assign();

 private:
  void begin(Value v, int first);
  void join(Value v, Value other);
  bool may_overwrite(std::size_t step) const;

  const NetworkConfig& config_;
  const Layout& layout_;
  const Lifetimes& lives_;
  Plan& plan_;
};

void Values::begin(Value v, int first) {
  const ValueSpec& form = layout_.form(v);
  plan_.values[v] = plan_.buffers.size();
  plan_.buffers.push_back({form.shape.elements() * form.copies, first,
                           std::max(first, lives_.last_use(v)),
                           form.tokens || lives_.is_compared(v)});
}

void Values::join(Value v, Value other) {
  const BufferIndex buffer = plan_.values[other];
  plan_.values[v] = buffer;
  PlannedBuffer& own = plan_.buffers[buffer];
  own.last = std::max(own.last, lives_.last_use(v));
  own.whole = own.whole || lives_.is_compared(v);
}

// Whether nobody reads the first input any more, in whatever shape.
bool Values::may_overwrite(std::size_t step) const {
  const PlannedLayer& s = plan_.steps[step];
  const Value x = s.inputs[0];
  if (!s.buffers.in_place ||
      (lives_.runs_backward(step) && s.buffers.keeps_inputs))
    return false;
  const ValueSpec &from = layout_.form(x), &to = layout_.form(s.output);
  if (from.shape.elements() * from.copies != to.shape.elements() * to.copies)
    return false;
  const BufferIndex buffer = plan_.values[x];
  for (std::size_t i = 1; i < s.inputs.size(); ++i)
    if (plan_.values[s.inputs[i]] == buffer) return false;
  for (Value v = 0; v < plan_.values.size(); ++v)
    if (plan_.values[v] == buffer &&
        lives_.last_use(v, step) > Lifetimes::forward(step))
      return false;
  return true;
}

void Values::assign() {
  plan_.values.assign(config_.value_of(config_.layers.size()), kNoBuffer);
  for (Value v = 0; v < config_.inputs.size(); ++v) begin(v, 0);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const PlannedLayer& step = plan_.steps[i];
    if (step.buffers.alias || may_overwrite(i))
      join(step.output, step.inputs[0]);
    else
      begin(step.output, Lifetimes::forward(i));
  }
}

}  // namespace

Lifetimes::Lifetimes(const NetworkConfig& config, const Layout& layout,
                     const Plan& plan, bool training)
    : steps_(plan.steps),
      readers_(config.value_of(config.layers.size())),
      producer_(readers_.size(), kNoStep),
      backward_(plan.steps.size()),
      compared_(readers_.size()) {
  for (const std::size_t layer : config.outputs) {
    compared_[config.value_of(layer)] = true;
    if (const auto target = config.layers[layer].target; training && target)
      compared_[*target] = true;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const LayerLayout& own = layout.layers[steps_[i].layer];
    const LayerConfig& layer = config.layers[steps_[i].layer];
    backward_[i] =
        training &&
        ((own.parameters_begin < own.parameters_end &&
          !layer.training.frozen) ||
         (layer.tied_to && !config.layers[*layer.tied_to].training.frozen));
    producer_[steps_[i].output] = i;
    for (const Value v : steps_[i].inputs) {
      readers_[v].push_back(i);
      backward_[i] = backward_[i] || needs_gradient(v);
    }
  }
}

int Lifetimes::last_use(Value v, std::size_t except) const {
  int last = compared_[v] ? loss() : 0;
  const auto use = [&](int at) { last = std::max(last, at); };
  if (const std::size_t p = producer_[v]; p != kNoStep) {
    use(forward(p));
    if (runs_backward(p) && steps_[p].buffers.keeps_output) use(backward(p));
  }
  for (const std::size_t reader : readers_[v]) {
    if (reader == except) continue;
    use(forward(reader));
    const BufferPolicy& buffers = steps_[reader].buffers;
    if (buffers.alias) use(last_use(steps_[reader].output, except));
    if (runs_backward(reader) && buffers.keeps_inputs && !buffers.alias)
      use(backward(reader));
  }
  return last;
}

Plan plan_of(const NetworkConfig& config, const Layout& layout, bool training,
             Division division) {
  Plan plan;
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    plan.steps.push_back(planned(config, layout, i));
  fuse(config, layout, training, plan);
  mark_shared(config, plan);
  const Lifetimes lifetimes(config, layout, plan, training);
  Values(config, layout, lifetimes, plan).assign();
  if (training) plan_backward(config, layout, lifetimes, plan);
  plan_joint(config, layout, training ? division : Division{}, plan);
  return plan;
}

}  // namespace dl::nn
