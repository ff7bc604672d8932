// Planning of the backward pass.

#include "libcore/nn/plan/plan_backward.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"

namespace dl::nn {
namespace {

// Walks the steps in reverse.  gradient_[v] is where the sum of what the
// readers of v have found so far lies; several values may have one buffer, as
// the inputs of a sum have that of its output, and then nobody writes to it.
class Backward {
 public:
  Backward(const Layout& layout, const Lifetimes& lifetimes, Plan& plan)
      : layout_(layout),
        lives_(lifetimes),
        plan_(plan),
        gradient_(plan.values.size(), kNoBuffer) {}

  void begin_with(Value output);
  void add_step(std::size_t step);

 private:
  std::int64_t elements(Value v) const {
    const ValueSpec& form = layout_.form(v);
    return form.shape.elements() * form.copies;
  }
  BufferIndex new_buffer(Value v, int first) {
    plan_.buffers.push_back({elements(v), first, first});
    return plan_.buffers.size() - 1;
  }
  void use(BufferIndex buffer, int at) {
    PlannedBuffer& b = plan_.buffers[buffer];
    b.last = std::max(b.last, at);
  }
  std::size_t values_of(BufferIndex buffer) const {
    return buffer < values_of_.size() ? values_of_[buffer] : 0;
  }
  bool is_shared(BufferIndex buffer) const { return values_of(buffer) > 1; }
  void set_gradient(Value v, BufferIndex buffer);
  BufferIndex target(const PlannedLayer& step, std::size_t input,
                     BufferIndex dy, int at);
  void add(BackwardStep& back, Value v, BufferIndex found, int at);

  const Layout& layout_;
  const Lifetimes& lives_;
  Plan& plan_;
  std::vector<BufferIndex> gradient_;   // by value
  std::vector<std::size_t> values_of_;  // how many have it, by buffer
};

void Backward::set_gradient(Value v, BufferIndex buffer) {
  if (gradient_[v] != kNoBuffer) --values_of_[gradient_[v]];
  gradient_[v] = buffer;
  if (buffer == kNoBuffer) return;
  values_of_.resize(std::max(values_of_.size(), buffer + 1));
  ++values_of_[buffer];
}

void Backward::begin_with(Value output) {
  set_gradient(output, new_buffer(output, lives_.loss()));
  plan_.buffers.back().whole = true;
  plan_.losses.push_back(gradient_[output]);
}

// Where the step writes the gradient of its input.
BufferIndex Backward::target(const PlannedLayer& step, std::size_t input,
                             BufferIndex dy, int at) {
  const BufferPolicy& m = step.buffers;
  if (m.passes_gradient || m.alias || (m.passes_rest && input > 0)) return dy;
  if (input == 0 && step.buffers.gradient_in_place && !is_shared(dy) &&
      elements(step.inputs[0]) == elements(step.output))
    return dy;
  return new_buffer(step.inputs[input], at);
}

// After the step, `found` is what it says of v.
void Backward::add(BackwardStep& back, Value v, BufferIndex found, int at) {
  const BufferIndex sum = gradient_[v];
  if (sum == kNoBuffer) return set_gradient(v, found);
  const std::int64_t n = elements(v);
  use(sum, at);
  // A buffer that is, or is to be, another value's gradient as well stays
  // unchanged.
  const bool own =
      values_of(found) == 0 && std::ranges::count(back.dx, found) == 1;
  if (!own && !is_shared(sum) && sum != found) {
    back.sums.push_back({sum, found, false, n});
    return;
  }
  BufferIndex total = found;
  if (!own) {
    total = new_buffer(v, at);
    back.sums.push_back({total, found, true, n});
  }
  back.sums.push_back({total, sum, false, n});
  set_gradient(v, total);
}

void Backward::add_step(std::size_t index) {
  const PlannedLayer& step = plan_.steps[index];
  if (!lives_.runs_backward(index)) return;
  if (gradient_[step.output] == kNoBuffer) return;  // for a target alone
  const int at = lives_.backward(index);
  BackwardStep back;
  back.step = index;
  back.dy = gradient_[step.output];
  use(back.dy, at);
  back.computes = !step.buffers.passes_gradient && !step.buffers.alias;
  if (step.buffers.spoils_gradient && is_shared(back.dy)) {
    back.copied = std::exchange(back.dy, new_buffer(step.output, at));
    set_gradient(step.output, back.dy);
  }
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    back.dx.push_back(lives_.needs_gradient(step.inputs[i])
                          ? target(step, i, back.dy, at)
                          : kNoBuffer);
  set_gradient(step.output, kNoBuffer);
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    if (back.dx[i] != kNoBuffer) add(back, step.inputs[i], back.dx[i], at);
  for (const BufferIndex dx : back.dx)
    if (dx != kNoBuffer) use(dx, at);
  plan_.backward.push_back(std::move(back));
}

// Fills in found_from.
void note_found(const Layout& layout, Plan& plan) {
  // By parameter segment: steps back after which it changes no more.
  std::vector<std::size_t> final_after(layout.parameters.size());
  for (std::size_t i = 0; i < plan.backward.size(); ++i) {
    const LayerLayout& own =
        layout.layers[plan.steps[plan.backward[i].step].layer];
    for (std::size_t p = own.parameters_begin; p < own.parameters_end; ++p)
      final_after[p] = i + 1;
  }
  // Gradients of tied weights are added at the end.
  for (const PlannedLayer& step : plan.steps)
    if (const auto tied = layout.layers[step.layer].tied)
      final_after[*tied] = plan.backward.size() + 1;
  std::size_t p = layout.parameters.size();
  for (std::size_t done = 1; done <= plan.backward.size(); ++done) {
    while (p > 0 && final_after[p - 1] <= done) --p;
    plan.backward[done - 1].found_from = p < layout.parameters.size()
                                             ? layout.parameters[p].offset
                                             : layout.parameter_count;
  }
}

}  // namespace

void plan_backward(const NetworkConfig& config, const Layout& layout,
                   const Lifetimes& lifetimes, Plan& plan) {
  Backward backward(layout, lifetimes, plan);
  for (const std::size_t layer : config.outputs)
    backward.begin_with(config.value_of(layer));
  for (std::size_t i = plan.steps.size(); i-- > 0;) backward.add_step(i);
  note_found(layout, plan);
}

}  // namespace dl::nn
