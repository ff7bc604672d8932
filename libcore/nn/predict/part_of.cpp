// Cutting a part out of a network.

#include "libcore/nn/predict/part_of.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/names.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/targets.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

// A part, and where its inputs and layers are in the whole.
struct Cut {
  NetworkConfig config;
  std::vector<Value> inputs;
  std::vector<std::size_t> layers;
};

class Cutter {
 public:
  explicit Cutter(const NetworkConfig& whole)
      : whole_(whole), layout_(layout_of(whole)) {}

  Cut cut(std::span<const std::string> inputs,
          std::span<const std::string> outputs);

 private:
  std::size_t inputs() const { return whole_.inputs.size(); }
  const std::string& name_of(Value v) const {
    return v < inputs() ? whole_.inputs[v].name
                        : whole_.layers[v - inputs()].name;
  }
  Value named(const std::string& name, bool node) const;
  void mark(Value v);
  InputConfig input(Value v) const;
  LayerConfig layer(std::size_t i, const Cut& part) const;
  std::optional<std::size_t> keeper_in(const Cut& part,
                                       std::size_t owner) const;
  void tie(LayerConfig& layer, const Cut& part) const;
  void check_single(Value v) const;

  const NetworkConfig& whole_;
  Layout layout_;
  std::vector<Value> given_;
  std::vector<bool> needed_;
};

// node: an input will not do.
Value Cutter::named(const std::string& name, bool node) const {
  std::vector<std::string> known;
  for (Value v = node ? inputs() : 0; v < whole_.value_of(whole_.layers.size());
       ++v) {
    if (name_of(v) == name) return v;
    if (!name_of(v).empty()) known.push_back(name_of(v));
  }
  std::string all;
  for (const std::string& other : known)
    all += (all.empty() ? "" : ", ") + other;
  const std::string near = nearest(name, known);
  bad_usage(std::string("no ") + (node ? "node" : "input or node") +
            " is called '" + displayed(name) + "'" +
            (near.empty() ? "; the"
                          : "; did you mean '" + displayed(near) + "'? The") +
            (node ? " nodes are " : " inputs and nodes are ") + all);
}

// Marks the values that v depends on, up to the given ones.
void Cutter::mark(Value v) {
  if (needed_[v]) return;
  needed_[v] = true;
  if (v < inputs() || std::ranges::count(given_, v) > 0) return;
  for (const Value from : whole_.layers[v - inputs()].from) mark(from);
}

void Cutter::check_single(Value v) const {
  if (layout_.form(v).copies > 1)
    bad_usage(
        "'" + displayed(name_of(v)) + "' has " +
        std::to_string(layout_.form(v).copies) +
        " values an example, one behind the other; take what unstacks them");
}

InputConfig Cutter::input(Value v) const {
  const ValueSpec& form = layout_.form(v);
  return {name_of(v), form.shape, form.steps};
}

// If layers share parameters, the first that is left has them. Targets are
// for training.
LayerConfig Cutter::layer(std::size_t i, const Cut& part) const {
  LayerConfig layer = whole_.layers[i];
  for (Value& from : layer.from) {
    const auto given = std::ranges::find(part.inputs, from);
    if (given != part.inputs.end())
      from = static_cast<Value>(given - part.inputs.begin());
    else
      from =
          part.inputs.size() +
          static_cast<Value>(std::ranges::find(part.layers, from - inputs()) -
                             part.layers.begin());
  }
  layer.shares = keeper_in(part, layer.shares.value_or(i));
  layer.target.reset();
  if (layer.tied_to) tie(layer, part);
  return layer;
}

// The first layer so far that has the parameters of one of the whole.
std::optional<std::size_t> Cutter::keeper_in(const Cut& part,
                                             std::size_t owner) const {
  for (std::size_t k = 0; k < part.layers.size(); ++k)
    if (whole_.layers[part.layers[k]].shares.value_or(part.layers[k]) == owner)
      return k;
  return {};
}

// One without the layer that it is tied to has a weight of its own.
void Cutter::tie(LayerConfig& layer, const Cut& part) const {
  layer.tied_to = layer.shares ? part.config.layers[*layer.shares].tied_to
                               : keeper_in(part, *layer.tied_to);
  if (layer.tied_to)
    layer.settings.set("tied_to", part.config.layers[*layer.tied_to].name);
  else
    layer.settings.remove("tied_to");
}

Cut Cutter::cut(std::span<const std::string> input_names,
                std::span<const std::string> output_names) {
  require(!output_names.empty(), "a part without outputs");
  for (const std::string& name : input_names) {
    given_.push_back(named(name, false));
    check_single(given_.back());
  }
  std::vector<Value> outputs;
  needed_.resize(whole_.value_of(whole_.layers.size()));
  for (const std::string& name : output_names) {
    const Value v = named(name, true);
    check_single(v);
    if (std::ranges::count(outputs, v) > 0)
      bad_usage("'" + displayed(name) + "' is named twice");
    if (std::ranges::count(given_, v) > 0)
      bad_usage("'" + displayed(name) + "' is an input of the part");
    outputs.push_back(v);
    mark(v);
  }

  Cut part;
  for (const Value v : given_)
    if (!needed_[v])
      bad_usage("none of the outputs depends on '" + displayed(name_of(v)) +
                "'");
  part.inputs = given_;
  for (Value v = 0; v < inputs(); ++v) {
    if (!needed_[v] || std::ranges::count(given_, v) > 0) continue;
    if (!given_.empty())
      bad_usage("the outputs depend on " +
                (name_of(v).empty() ? "the network's input"
                                    : "'" + displayed(name_of(v)) + "'") +
                " as well");
    part.inputs.push_back(v);
  }
  part.config.seed = whole_.seed;
  part.config.tbptt_length = whole_.tbptt_length;
  if (given_.empty()) part.config.names_inputs = inputs() > 1;
  part.config.names_outputs = whole_.outputs.size() > 1;
  for (const Value v : part.inputs) part.config.inputs.push_back(input(v));
  for (std::size_t i = 0; i < whole_.layers.size(); ++i) {
    const Value v = whole_.value_of(i);
    if (!needed_[v] || std::ranges::count(given_, v) > 0) continue;
    part.config.layers.push_back(layer(i, part));
    part.layers.push_back(i);
  }
  for (const Value v : outputs)
    part.config.outputs.push_back(static_cast<std::size_t>(
        std::ranges::find(part.layers, v - inputs()) - part.layers.begin()));
  return part;
}

// The tensors of a layer lie one behind the other.
void append(std::vector<float>& to, std::span<const float> all,
            std::span<const Segment> segments) {
  if (segments.empty()) return;
  const auto begin = static_cast<std::size_t>(segments.front().offset);
  const auto end = static_cast<std::size_t>(segments.back().offset +
                                            segments.back().elements());
  const auto own = all.subspan(begin, end - begin);
  to.insert(to.end(), own.begin(), own.end());
}

// A weight that was used transposed.
void append_transposed(std::vector<float>& to, std::span<const float> all,
                       const Segment& segment) {
  const auto rows = static_cast<std::size_t>(segment.shape[0]),
             columns = static_cast<std::size_t>(segment.shape[1]),
             begin = static_cast<std::size_t>(segment.offset);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      to.push_back(all[begin + i * columns + j]);
}

// Data that go into a node are not those that the model knows.
void forget_features(data::Metadata& data) {
  std::erase_if(data.schema, [](const auto& field) {
    return field.first.starts_with("features");
  });
  data.columns.clear();
  data.recipe = nullptr;
  data.statistics.reset();
  for (auto& [name, about] : data.parts) {
    about.columns.clear();
    about.statistics.reset();
  }
}

}  // namespace

Model part_of(const Model& model, std::span<const std::string> inputs,
              std::span<const std::string> outputs) {
  Cut cut = Cutter(model.config).cut(inputs, outputs);
  const Layout whole = layout_of(model.config);
  data::Normalizers normalizers = model.normalizers;
  aim_normalizers(model.config, normalizers);
  Model part;
  part.data = model.data;
  part.provenance = model.provenance;
  if (!inputs.empty()) forget_features(part.data);
  part.normalizers.inputs.clear();
  for (const Value v : cut.inputs)
    part.normalizers.inputs.push_back(v < model.config.inputs.size()
                                          ? model.normalizers.input(v)
                                          : data::Normalizer{});
  part.normalizers.outputs.clear();
  for (const std::size_t i : cut.config.outputs) {
    const auto output = std::ranges::find(model.config.outputs, cut.layers[i]);
    part.normalizers.outputs.push_back(
        output == model.config.outputs.end()
            ? data::Normalizer{}
            : normalizers.output(static_cast<std::size_t>(
                  output - model.config.outputs.begin())));
  }
  const std::span parameters(whole.parameters), statistics(whole.statistics);
  for (std::size_t k = 0; k < cut.layers.size(); ++k) {
    if (cut.config.layers[k].shares) continue;
    const LayerLayout& own = whole.layers[cut.layers[k]];
    if (own.tied && !cut.config.layers[k].tied_to)
      append_transposed(part.parameters, model.weights(),
                        parameters[*own.tied]);
    append(part.parameters, model.weights(),
           parameters.subspan(own.parameters_begin,
                              own.parameters_end - own.parameters_begin));
    append(part.statistics, model.statistics,
           statistics.subspan(own.statistics_begin,
                              own.statistics_end - own.statistics_begin));
  }
  part.config = std::move(cut.config);
  return part;
}

}  // namespace dl::nn
