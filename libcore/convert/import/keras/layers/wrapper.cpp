// Layers that hold another one.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

// Does to each row of a matrix what it does to a vector.
bool takes_rows(const std::string& class_name) {
  constexpr std::string_view kClasses[] = {
      "Activation", "BatchNormalization", "Dense", "Dropout",
      "ELU",        "LayerNormalization", "ReLU",  "LeakyReLU",
      "Softmax"};
  return std::ranges::count(kClasses, class_name) > 0;
}

constexpr std::int64_t kMostSteps = 64;

Flow time_distributed(Site& site) {
  LayerSpec inner = layer_spec(site.view({"layer"}));
  const Make make = find_class(inner.class_name);
  Site each = site.as(inner);
  if (make == nullptr) {
    const std::string why = why_not(inner.class_name);
    each.refuse(why.empty() ? "it is no class of Keras that is known" : why);
  }
  // Time comes first in Keras, and so does it here.
  each.set_only(site.as_keras(site.only()));
  if (each.only().shape().rank() < 2)
    site.refuse("its input is " + each.only().shape().to_string() +
                ", no sequence");
  const bool sequence =
      each.only().form.steps || site.import().graph->is_input(each.only().node);
  each.set_below("layer");
  if (reads_steps(inner) || (!sequence && !takes_rows(each.layer().class_name)))
    return step_by_step(site, each.only(), [&](const Flow& step, bool first) {
      Site one = each;
      one.set_only(step);
      if (!first) one.set_further();
      const Flow flow = make(one);
      one.check_all_read();
      return flow;
    });
  // A noise_shape that a row shares, but not all rows.
  if (!sequence && each.has({"noise_shape"})) {
    each.note("its noise_shape is left out: each number is dropped by itself");
    inner.config.erase("noise_shape");
  }
  each.set_each_step(sequence);
  each.set_all_steps(!sequence);
  const Flow flow = make(each);
  each.check_all_read();
  return each.as_keras(flow, "step_order");
}

}  // namespace

bool reads_steps(const LayerSpec& layer) {
  constexpr std::string_view kClasses[] = {
      "LSTM",    "GRU",   "SimpleRNN",       "RNN", "Bidirectional",
      "GetItem", "Stack", "TimeDistributed", "Dot", "MultiHeadAttention",
      "Masking"};
  if (std::ranges::count(kClasses, layer.class_name) > 0) return true;
  return layer.model && std::ranges::any_of(layer.model->layers, reads_steps);
}

Flow step_by_step(Site& site, const Flow& value,
                  const std::function<Flow(const Flow&, bool)>& make) {
  const std::int64_t steps = value.shape()[0];
  if (site.each_step() || value.masked || steps > kMostSteps)
    site.refuse("it takes each of " + std::to_string(steps) +
                " steps by itself; up to " + std::to_string(kMostSteps) +
                ", without a mask, would be needed");
  const auto reshaped = [&](const std::string& part, const Sizes& shape,
                            const Flow& from) {
    return site.add(part, {{"type", "reshape"}, {"shape", shape}}, {from});
  };
  std::vector<Flow> all;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::string part = "step" + std::to_string(i);
    const Flow slice = site.add(
        part + ".of",
        {{"type", "subset"}, {"axis", 0}, {"begin", i}, {"end", i + 1}},
        {value});
    Sizes shape = sizes_of(slice.shape());
    shape.erase(shape.begin());
    const Flow step = reshaped(part + ".in", shape, slice);
    Flow made = site.as_keras(make(step, i == 0), part + ".order");
    if (made.masked)
      site.refuse("it makes a mask of each step; none would be needed");
    shape = sizes_of(made.shape());
    shape.insert(shape.begin(), 1);
    all.push_back(reshaped(part, shape, made));
  }
  if (all.size() == 1) return all[0];
  return site.add("steps", {{"type", "merge"}, {"axis", 0}}, all);
}

std::vector<Class> wrapper_classes() {
  return {{"TimeDistributed", time_distributed}};
}

}  // namespace dl::convert::keras
