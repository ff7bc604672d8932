// Goes through the calls of a model in the order in which their inputs are
// there.

#include "libcore/convert/import/keras/model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/convert/import/axes.h"
#include "libcore/convert/import/keras/compiled.h"
#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/keras_1.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using Flows = std::vector<Flow>;
using Path = std::vector<std::size_t>;  // the place in each model

// The shape of a layer's input as Keras has it, [batch, ...] with nulls; or
// none.
std::optional<JsonView> batch_shape(const JsonView& config) {
  for (const char* key : {"batch_shape", "batch_input_shape"})
    if (config.has(key) && config.at(key).raw().is_array())
      return config.at(key);
  return std::nullopt;
}

class Maker {
 public:
  Maker(const Source& source, const ModelSpec& model, const Weights* weights,
        Import& import)
      : source_(source), model_(model), weights_(weights), import_(import) {}

  Flows make();
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

 private:
  Flows run(const ModelSpec& model, const Path& path, const std::string& name,
            const Flows& inputs);
  Flows run_graph(const ModelSpec& model, const Path& path,
                  const std::string& name, const Flows& inputs);
  Flows call(const LayerSpec& layer, const Path& path, const std::string& name,
             const Flows& inputs, const CallSpec& how);
  std::string own_name(std::string name, const Path& path);
  Flows each_step(const LayerSpec& layer, const Path& path,
                  const std::string& name, Flows inputs);
  Flow input(const LayerSpec& layer);
  tensor::Shape input_shape(const LayerSpec& layer) const;

  const Source& source_;
  const ModelSpec& model_;
  const Weights* weights_;
  Import& import_;
  std::map<std::string, Path> places_;  // of the layers, by their names
  std::vector<Port> inputs_;
  std::vector<std::string> outputs_;
  bool still_ = false;      // within a model that is called with training=False
  bool each_step_ = false;  // within one that takes each step by itself
};

std::string below(const std::string& name, const std::string& layer) {
  return name.empty() ? layer : name + "." + layer;
}

// A layer "enc.d" is another one than the d within enc: it shares no weights.
std::string Maker::own_name(std::string name, const Path& path) {
  while (places_.emplace(name, path).first->second != path) name += "_";
  return name;
}

// Shape given by the user, else by the model, whose batch is the first.
tensor::Shape Maker::input_shape(const LayerSpec& layer) const {
  for (const std::string& key : {layer.name, std::string()})
    if (const auto given = source_.shapes.find(key);
        given != source_.shapes.end())
      return given->second;
  const JsonView config(layer.config, Code::kData,
                        "layer " + in_quotes(layer.name));
  std::vector<std::int64_t> extents;
  const auto add = [&](const JsonView& shape, std::size_t from) {
    for (std::size_t i = from; i < shape.size(); ++i)
      extents.push_back(shape.at(i).raw().is_null()
                            ? -1
                            : shape.at(i).integer(0, 2147483647));
  };
  if (const auto shape = batch_shape(config)) {
    add(*shape, 1);
  } else if (config.has("build_config") &&
             config.at("build_config").has("input_shape") &&
             config.at("build_config").at("input_shape").raw().is_array()) {
    add(config.at("build_config").at("input_shape"), 1);
  } else if (config.has("input_shape") &&
             config.at("input_shape").raw().is_array()) {
    add(config.at("input_shape"), 0);
  } else if (config.has("input_dim")) {
    extents.push_back(config.at("input_dim").integer(1, 2147483647));
  } else {
    throw Error{Code::kUsage, "the model does not say what shape its input " +
                                  in_quotes(layer.name) +
                                  " has; --shape gives it"};
  }
  std::string text;
  for (const std::int64_t extent : extents)
    text += (text.empty() ? "" : ",") +
            (extent < 0 ? std::string("?") : std::to_string(extent));
  if (std::ranges::count(extents, 0) > 0)
    bad_data("the input " + in_quotes(layer.name) + " is " + text +
             ": an extent of 0 leaves no numbers; in its place None, for which "
             "--shape gives an extent, would be needed");
  if (std::ranges::count(extents, -1) > 0)
    throw Error{Code::kUsage, "the input " + in_quotes(layer.name) +
                                  " is of any size, " + text +
                                  "; --shape gives one, as in --shape " +
                                  layer.name + "=" + example_of(text)};
  if (extents.empty()) extents.push_back(1);
  if (extents.size() > 7)
    bad_data("the input " + in_quotes(layer.name) + " has too many dimensions");
  return tensor::Shape(std::span<const std::int64_t>(extents));
}

// Where Keras has the channels of an input first, they are last here.
Flow Maker::input(const LayerSpec& layer) {
  tensor::Shape shape = input_shape(layer);
  Graph& graph = *import_.graph;
  const std::string name = graph.fresh_name(layer.name);
  const bool moved = import_.inputs->moved.count(name) > 0 && shape.rank() > 1;
  if (moved) {
    std::vector<std::int64_t> extents(shape.extents().begin() + 1,
                                      shape.extents().end());
    extents.push_back(shape[0]);
    shape = tensor::Shape(std::span<const std::int64_t>(extents));
    import_.notes->insert(
        "the input " + in_quotes(layer.name) +
        " takes its channels last here: " + shape.to_string());
  }
  Flow flow;
  static_cast<Value&>(flow) =
      graph.input(layer.name, shape, import_.inputs->tokens.count(name) > 0);
  flow.moved = moved;
  inputs_.push_back({layer.name, moved});
  return flow;
}

Flows Maker::make() {
  Flows given;
  for (const auto& given_shape : source_.shapes) {
    const std::string& name = given_shape.first;
    if (!name.empty() &&
        std::ranges::none_of(model_.layers, [&](const LayerSpec& layer) {
          return layer.name == name;
        }))
      throw Error{Code::kUsage,
                  "--shape: the model has no input " + in_quotes(name)};
  }
  if (model_.layers.empty()) bad_data("its model has no layers");
  if (model_.sequential) {
    given.push_back(input(model_.layers[0]));
    outputs_.push_back(model_.layers.back().name);
  } else {
    for (const Ref& ref : model_.inputs) {
      const auto layer =
          std::ranges::find(model_.layers, ref.layer, &LayerSpec::name);
      if (layer == model_.layers.end())
        bad_data("its input " + in_quotes(ref.layer) +
                 " is none of its layers");
      given.push_back(input(*layer));
    }
    for (const Ref& ref : model_.outputs) outputs_.push_back(ref.layer);
  }
  return run(model_, {}, "", given);
}

Flows Maker::run(const ModelSpec& model, const Path& path,
                 const std::string& name, const Flows& inputs) {
  if (!model.sequential) return run_graph(model, path, name, inputs);
  Flows flows = inputs;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].class_name == "InputLayer") continue;
    Path own = path;
    own.push_back(i);
    flows = call(model.layers[i], own, below(name, model.layers[i].name), flows,
                 {});
  }
  return flows;
}

// Calls of a functional model, and who waits for which.
class Calls {
 public:
  explicit Calls(const ModelSpec& model) {
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      if (!by_name_.emplace(model.layers[i].name, i).second)
        bad_data("two of its layers are called " +
                 in_quotes(model.layers[i].name));
      first_.push_back(count_);
      count_ += std::max<std::size_t>(model.layers[i].calls.size(), 1);
    }
    flows_.resize(count_);
    known_.resize(count_, false);
    skipped_.resize(model.layers.size(), 0);
    for (const LayerSpec& one : model.layers)
      for (const CallSpec& call : one.calls)
        for (const Ref& ref : call.from) note_skipped(model, ref);
    for (const Ref& ref : model.outputs) note_skipped(model, ref);
  }

  std::size_t layer(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end())
      bad_data("it takes the output of a layer " + in_quotes(name) +
               " that there is not");
    return found->second;
  }
  std::size_t number(const ModelSpec& model, const Ref& ref) const {
    const std::size_t at = layer(ref.layer);
    const std::size_t call = ref.call - std::min(ref.call, skipped_[at]);
    if (call >= std::max<std::size_t>(model.layers[at].calls.size(), 1))
      bad_data("it takes the output of call " + std::to_string(ref.call) +
               " of layer " + in_quotes(ref.layer) + ", which there is not");
    return first_[at] + call;
  }
  std::size_t number(std::size_t layer, std::size_t call) const {
    return first_[layer] + call;
  }
  std::size_t count() const { return count_; }
  bool known(std::size_t number) const { return known_[number]; }
  void set(std::size_t number, Flows flows) {
    flows_[number] = std::move(flows);
    known_[number] = true;
  }
  const Flow& flow(const ModelSpec& model, const Ref& ref) const {
    const std::size_t at = number(model, ref);
    if (!known_[at])
      bad_data("the layer " + in_quotes(ref.layer) +
               " depends on itself, or on no input");
    if (ref.output >= flows_[at].size())
      bad_data("the layer " + in_quotes(ref.layer) + " has no output " +
               std::to_string(ref.output));
    return flows_[at][ref.output];
  }

 private:
  // tf.keras counts the call with which a model within the model was made.
  void note_skipped(const ModelSpec& model, const Ref& ref) {
    const LayerSpec& called = model.layers[layer(ref.layer)];
    if (called.model && ref.call == called.calls.size())
      skipped_[layer(ref.layer)] = 1;
  }

  std::map<std::string, std::size_t> by_name_;
  std::vector<std::size_t> first_, skipped_;  // by layer
  std::size_t count_ = 0;
  std::vector<Flows> flows_;
  std::vector<bool> known_;
};

Flows Maker::run_graph(const ModelSpec& model, const Path& path,
                       const std::string& name, const Flows& inputs) {
  Calls calls(model);
  if (inputs.size() != model.inputs.size())
    bad_data("the model " + in_quotes(model.name) + " takes " +
             std::to_string(model.inputs.size()) + " inputs, it is given " +
             std::to_string(inputs.size()));
  std::vector<std::size_t> waits(calls.count(), 0);
  std::vector<std::vector<std::size_t>> readers(calls.count());
  std::vector<std::pair<std::size_t, std::size_t>> of(calls.count());
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    for (std::size_t k = 0; k < model.layers[i].calls.size(); ++k) {
      const std::size_t own = calls.number(i, k);
      of[own] = {i, k};
      for (const Ref& ref : model.layers[i].calls[k].from) {
        readers[calls.number(model, ref)].push_back(own);
        ++waits[own];
      }
    }
  const auto done = [&](std::size_t number, Flows flows) {
    if (calls.known(number)) return;
    calls.set(number, std::move(flows));
    for (const std::size_t reader : readers[number])
      if (--waits[reader] == 0) ready.insert(reader);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    done(calls.number(model, model.inputs[i]), {inputs[i]});
  while (!ready.empty()) {
    const std::size_t number = *ready.begin();
    ready.erase(ready.begin());
    const auto [at, k] = of[number];
    const LayerSpec& layer = model.layers[at];
    Flows from;
    for (const Ref& ref : layer.calls[k].from)
      from.push_back(calls.flow(model, ref));
    Path own = path;
    own.push_back(at);
    done(number,
         call(layer, own, below(name, layer.name), from, layer.calls[k]));
  }
  Flows outputs;
  for (const Ref& ref : model.outputs)
    outputs.push_back(calls.flow(model, ref));
  return outputs;
}

std::string number_text(double number) { return dump_json(Json(number)); }

bool takes_number(const std::string& class_name) {
  return class_name == "Add" || class_name == "Subtract" ||
         class_name == "Multiply" || class_name == "TrueDivide" ||
         class_name == "Divide" || class_name == "Maximum" ||
         class_name == "Minimum" || class_name == "Power";
}

// Functions know of no masks, and some layers pass none on.
bool forgets_masks(const LayerSpec& layer, const Dialect& dialect) {
  if (layer.module.find(".ops.") != std::string::npos) return true;
  const std::string& name = layer.class_name;
  if (name == "EinsumDense" || name == "RMSNormalization") return true;
  return dialect.affine_forgets_masks() &&
         (name == "Rescaling" || name == "Normalization" || name == "Identity");
}

// Whose policy of types is one that quantize() gave it.
bool quantized(const Json& config) {
  const Json& policy = object_in(config, "dtype");
  return object_in(policy, "config").contains("mode");
}

// Whether a class differs between training and prediction.
bool draws(const std::string& class_name) {
  return class_name.find("Dropout") != std::string::npos ||
         class_name == "GaussianNoise" || class_name == "StochasticDepth" ||
         class_name == "BatchNormalization";
}

// A model that takes each step: there channels come first within a step alone.
Flows Maker::each_step(const LayerSpec& layer, const Path& path,
                       const std::string& name, Flows inputs) {
  Site site(import_, layer, name + ".each", inputs, nullptr);
  for (Flow& one : inputs) one = site.as_keras(one);
  const bool sequences = std::ranges::all_of(inputs, [&](const Flow& one) {
    return one.form.steps || import_.graph->is_input(one.node);
  });
  if (!sequences || std::ranges::any_of(layer.model->layers, reads_steps)) {
    if (inputs.size() != 1) site.refuse("it takes several inputs step by step");
    return {step_by_step(site, inputs[0], [&](const Flow& step, bool) {
      const Flows made = run(*layer.model, path, name, {step});
      if (made.size() != 1)
        site.refuse("it gives several outputs step by step");
      return made[0];
    })};
  }
  each_step_ = true;
  Flows flows = run(*layer.model, path, name, inputs);
  each_step_ = false;
  site.set_each_step(true);
  for (Flow& one : flows) one = site.as_keras(one, "step_order");
  return flows;
}

Flows Maker::call(const LayerSpec& layer, const Path& path,
                  const std::string& name, const Flows& inputs,
                  const CallSpec& how) {
  // In Keras 3 a model tells all its layers what it is told itself.
  const bool heeds = import_.dialect->heeds_training();
  const bool still = still_ || (heeds && how.training == false);
  if (layer.model && how.problem.empty() && !how.number) {
    const bool still_before = std::exchange(still_, still);
    Flows flows = layer.each_step ? each_step(layer, path, name, inputs)
                                  : run(*layer.model, path, name, inputs);
    still_ = still_before;
    return flows;
  }
  std::optional<LayerWeights> weights;
  if (weights_ != nullptr) weights = weights_->of(model_, path);
  if (weights && import_.dialect->keras_1())
    weights->listed() = as_keras_2(layer, weights->listed());
  Site site(import_, layer, own_name(name, path), inputs,
            weights ? &*weights : nullptr);
  if (!how.problem.empty()) site.refuse(how.problem);
  if (weights && quantized(layer.config))
    site.refuse(
        "its weights are quantized; the model as it was before quantize() "
        "would be needed");
  site.set_call(how);
  site.set_still(still);
  site.set_each_step(each_step_);
  if (forgets_masks(layer, *import_.dialect)) site.forget_masks();
  if (heeds && how.training == true && draws(layer.class_name))
    site.refuse(
        "it is called with training=True, as which its predictions are drawn; "
        "a model without that would be needed");
  if (how.number && !takes_number(layer.class_name))
    site.refuse("it is called with a number, " + number_text(*how.number));
  if (layer.module == "custom")
    site.refuse(
        "its class is not of Keras but registered by its author, as "
        "Python code, which is never run; a layer that Keras itself "
        "has would be needed");
  const Make known = find_class(layer.class_name);
  if (known == nullptr) {
    const std::string why = why_not(layer.class_name);
    site.refuse(why.empty() ? "its class is none of Keras's that is known; a "
                              "layer that Keras itself has would be needed"
                            : why);
  }
  Flows flows = {known(site)};
  site.check_all_read();
  if (weights && site.first_call()) try {
      weights->check_all_taken();
    } catch (const Error& e) {
      site.refuse(e.what());
    }
  return flows;
}

// Networks here train something.
void add_factors(Graph& graph, bool weighted, Flow& flow) {
  const Value value = graph.add(
      {{"type", "element_multiply"}, {"name", graph.fresh_name("factors")}},
      {flow});
  static_cast<Value&>(flow) = value;
  if (!weighted) return;
  graph.fill(value.node, "weight", all_of(1));
  graph.fill(value.node, "bias", all_of(0));
}

}  // namespace

Result make_network(const Source& source) {
  const JsonView json(source.model, Code::kData, "its model");
  std::set<std::string> assumed;
  const Dialect dialect(source.model, source.version, source.backend, assumed);
  const bool keras_1 = dialect.keras_1();
  const ModelSpec model = keras_1 ? as_keras_2(json) : model_spec(json);
  std::optional<Weights> weights;
  if (source.weights != nullptr) weights.emplace(*source.weights, keras_1);
  // Inputs are found on the way; each round finds at least one more.
  Inputs inputs;
  for (;;) {
    Result result;
    result.notes = assumed;
    Graph graph(inputs.sequences, inputs.each_step);
    const Inputs before = inputs;
    Import import{.graph = &graph,
                  .inputs = &inputs,
                  .dialect = &dialect,
                  .notes = &result.notes};
    try {
      Maker maker(source, model, weights ? &*weights : nullptr, import);
      Flows flows = maker.make();
      for (const Flow& flow : flows)
        inputs.held.insert(flow.unheld.begin(), flow.unheld.end());
      inputs.sequences |= graph.reads_sequences();
      inputs.each_step.insert(graph.found_each_step().begin(),
                              graph.found_each_step().end());
      inputs.all_frozen |= !graph.trains();
      if (inputs != before) continue;
      if (!graph.trains()) {
        add_factors(graph, source.weights != nullptr, flows[0]);
        result.notes.insert(
            "nothing of it is trained: here a factor and an offset of its "
            "output are, which are 1 and 0");
      } else if (inputs.all_frozen) {
        result.notes.insert(
            "none of its layers is trainable: here they all are");
      }
      const Training training =
          training_of(source, maker.outputs(), flows, result.notes);
      const std::vector<Value> values(flows.begin(), flows.end());
      result.document = graph.document(values, training.aims);
      add_keys(training, result.document, result.notes);
      for (const std::string& name : graph.with_other_loss())
        result.notes.insert("the loss of the output " + in_quotes(name) +
                            " does not go with its activation here, and is "
                            "left out");
      result.document["weight_init"] = "xavier_uniform";
      result.fills = graph.fills();
      result.inputs = maker.inputs();
      for (std::size_t i = 0; i < flows.size(); ++i)
        result.outputs.push_back({maker.outputs()[i], flows[i].moved});
      return result;
    } catch (const Again&) {
      require(inputs != before, "a model that is made again and again");
    }
  }
}

}  // namespace dl::convert::keras
