// The two directions read the same input; their outputs lie side by side
// (concat), or are kept apart and joined number by number.

#include "libcore/nn/layers/parts/recurrent.h"

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn {

template <>
std::span<const std::string_view> names_of<Bidirectional>() {
  static constexpr std::string_view kNames[] = {"none", "concat", "add",
                                                "multiply", "average"};
  return kNames;
}

namespace layers {
namespace {

using tensor::View;

// A key that only some cells have.
bool is_on(const LayerSettings& settings, std::string_view key) {
  return settings.has(key) && settings.flag(key);
}

// Specification of one direction. The caller chooses its part of rows [steps, 2
// units].
device::RecurrentSpec spec_of(device::Cell cell, const LayerSettings& settings,
                              const tensor::Shape& input) {
  device::RecurrentSpec spec{
      .cell = cell,
      .steps = input[0],
      .inputs = input[1],
      .units = settings.integer("units"),
      .activation = settings.one_of<device::Activation>("activation"),
      .last = !settings.flag("return_sequences")};
  if (settings.has("gate_activation"))
    spec.gate_activation =
        settings.one_of<device::Activation>("gate_activation");
  spec.reset_before = is_on(settings, "reset_before");
  return spec;
}

bool has_peepholes(const LayerSettings& settings) {
  return is_on(settings, "peepholes");
}

class Recurrent final : public Layer {
 public:
  Recurrent(device::Cell cell, const LayerSite& site, Memory& memory)
      : site_(site),
        cell_(cell),
        bias_(site.settings->flag("bias")),
        peepholes_(has_peepholes(*site.settings)),
        merge_(site.settings->one_of<Bidirectional>("bidirectional")) {
    const bool both = merge_ != Bidirectional::kNone;
    for (int i = 0; i < (both ? 2 : 1); ++i) directions_.push_back(make(i));
    if (!both || merge_ == Bidirectional::kConcat) return;
    for (Direction& direction : directions_)
      direction.y =
          memory.allocate(site.output.shape.with_first(site.max_batch));
  }

  void freeze() override {
    for (Direction& d : directions_) d.cell->freeze(d.weights);
  }

  void forward(const Flow& flow, const Step&) override {
    for (Direction& d : directions_)
      d.cell->forward(of(d, flow.y), flow.x[0], flow.masks[0], d.weights,
                      state_of(flow));
    join(flow.y);
  }

  void backward(const Flow& flow, const Step&) override {
    const View dy = flow.dy;
    part(dy);
    bool add = false;
    for (Direction& d : directions_) {
      d.cell->backward(flow.dx[0], add,
                       merge_ == Bidirectional::kMultiply ? of(d, dy) : dy,
                       flow.x[0], flow.masks[0], d.weights, d.gradient);
      add = true;
    }
  }

 private:
  struct Direction {
    std::unique_ptr<device::Recurrent> cell;
    device::RecurrentWeights weights, gradient;
    View y;  // its own output; empty where it goes into the layer's
  };

  Direction make(int i) const {
    device::RecurrentSpec spec = spec_of(cell_, *site_.settings, site_.input());
    spec.truncate = site_.truncate;
    spec.reverse = i == 1;
    if (merge_ == Bidirectional::kConcat) {
      spec.row = 2 * spec.units;
      spec.column = i * spec.units;
    }
    Direction d;
    d.cell = site_.device->recurrent(spec, site_.max_batch);
    d.weights = weights_of(site_.parameters, i);
    if (site_.training) d.gradient = weights_of(site_.gradients, i);
    return d;
  }

  // As the blueprint has it.
  static device::RecurrentState state_of(const Flow& flow) {
    if (flow.state.empty()) return {};
    return {flow.state[0], flow.state.size() > 1 ? flow.state[1] : View{}};
  }

  // In the order of the layout: weight, recurrent_weight, maybe bias and maybe
  // peepholes, of each direction.
  device::RecurrentWeights weights_of(const std::vector<View>& views,
                                      int direction) const {
    const std::size_t each = 2u + bias_ + peepholes_;
    const View* first = &views.at(static_cast<std::size_t>(direction) * each);
    return {first[0], first[1], bias_ ? first[2] : View{},
            peepholes_ ? first[each - 1] : View{}};
  }

  // Where a direction's output, or its gradient, goes.
  static View of(const Direction& d, View y) {
    return d.y.empty() ? y : d.y.at(0, y.shape);
  }

  void join(View y) {
    if (directions_[0].y.empty()) return;
    const View forward = of(directions_[0], y),
               backward = of(directions_[1], y);
    if (merge_ == Bidirectional::kMultiply)
      return site_.device->multiply(y, forward, backward);
    site_.device->copy(y, forward);
    site_.device->add(y, 1, backward);
    if (merge_ == Bidirectional::kAverage) site_.device->scale(y, 0.5);
  }

  // dy becomes what each direction's output gets, or, where that differs,
  // their outputs do.
  void part(View dy) {
    if (merge_ == Bidirectional::kAverage) site_.device->scale(dy, 0.5);
    if (merge_ != Bidirectional::kMultiply) return;
    const View forward = of(directions_[0], dy),
               backward = of(directions_[1], dy);
    site_.device->multiply(forward, forward, dy);
    site_.device->multiply(backward, backward, dy);
    std::swap(directions_[0].y, directions_[1].y);
  }

  LayerSite site_;
  device::Cell cell_;
  bool bias_, peepholes_;
  Bidirectional merge_;
  std::vector<Direction> directions_;
};

// The tensors of one direction.
void add_direction(LayerShape& plan, const std::string& prefix,
                   const device::RecurrentSpec& spec, bool bias,
                   bool peepholes) {
  const std::int64_t rows = spec.gates() * spec.units;
  // Deeplearning4j's fans: those of all that goes into a unit.
  const bool simple = spec.cell == device::Cell::kSimple;
  const std::int64_t in = simple ? spec.inputs : spec.units;
  const std::int64_t out = simple ? spec.units : spec.inputs + spec.units;
  plan.parameters.push_back(
      {.name = prefix + "weight",
       .shape = checked_shape({rows, spec.inputs}, "weight"),
       .fan_in = in,
       .fan_out = out});
  plan.parameters.push_back(
      {.name = prefix + "recurrent_weight",
       .shape = checked_shape({rows, spec.units}, "recurrent_weight"),
       .fan_in = spec.units,
       .fan_out = out,
       .recurrent = true});
  if (bias)
    plan.parameters.push_back({.name = prefix + "bias",
                               .shape = {spec.biases()},
                               .role = Role::kBias});
  if (peepholes)
    plan.parameters.push_back({.name = prefix + "peephole",
                               .shape = {3, spec.units},
                               .role = Role::kOther});
}

}  // namespace

std::vector<Key> recurrent_keys(device::Cell cell) {
  static constexpr std::string_view kOfCells[] = {
      "identity",     "relu",      "sigmoid", "tanh",
      "hard_sigmoid", "hard_tanh", "softsign"};
  std::vector<Key> keys{
      key::units(), key::bias(),
      key::one_of("activation", R"("tanh")",
                  "Applied to the input of the state.", kOfCells)};
  if (cell != device::Cell::kSimple)
    keys.push_back(key::one_of("gate_activation", R"("sigmoid")",
                               "Applied to the gates.", kOfCells));
  keys.push_back(key::flag(
      "return_sequences", "false",
      "Outputs the state after each step instead of the last alone."));
  keys.push_back(key::one_of(
      "bidirectional", R"("none")",
      "Reads in both directions, and joins their outputs in this way.",
      names_of<Bidirectional>()));
  return keys;
}

LayerShape infer_recurrent(device::Cell cell, const LayerSettings& settings,
                           const ValueSpec& input) {
  if (input.shape.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features], its input is " +
                    input.shape.to_string() +
                    "; a recurrent layer before it gives one with "
                    "\"return_sequences\": true" +
                    steps_hint(input.shape)};
  const device::RecurrentSpec spec = spec_of(cell, settings, input.shape);
  const auto merge = settings.one_of<Bidirectional>("bidirectional");
  const bool both = merge != Bidirectional::kNone;
  LayerShape plan;
  for (int i = 0; i < (both ? 2 : 1); ++i)
    add_direction(plan, i == 0 ? "" : "backward_", spec, settings.flag("bias"),
                  has_peepholes(settings));
  const std::int64_t width =
      merge == Bidirectional::kConcat ? 2 * spec.units : spec.units;
  plan.output.steps = !spec.last;
  plan.output.copies = input.copies;
  plan.buffers.keeps_output = false;
  plan.buffers.spoils_gradient =
      merge == Bidirectional::kAverage || merge == Bidirectional::kMultiply;
  plan.output.shape =
      spec.last ? tensor::Shape{width} : tensor::Shape{spec.steps, width};
  plan.flops = (both ? 4.0 : 2.0) * static_cast<double>(spec.steps) *
               static_cast<double>(spec.gates() * spec.units) *
               static_cast<double>(spec.inputs + spec.units);
  if (spec.activation != device::Activation::kIdentity)
    plan.flops += numbers_in(plan.output.shape);
  if (both) return plan;
  plan.carried.push_back({"h", {spec.units}});
  if (cell == device::Cell::kLstm) plan.carried.push_back({"c", {spec.units}});
  return plan;
}

std::unique_ptr<Layer> make_recurrent(device::Cell cell, const LayerSite& site,
                                      Memory& memory) {
  return std::make_unique<Recurrent>(cell, site, memory);
}

}  // namespace layers
}  // namespace dl::nn
