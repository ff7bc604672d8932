// Copying of layers between models.

#include "libcore/nn/model/transfer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/names.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/initialise.h"

namespace dl::nn {
namespace {

// The tensors of a layer in the flat vectors.
struct Tensors {
  std::vector<Segment> parameters, statistics;

  bool operator==(const Tensors& other) const {
    const auto alike = [](const Segment& a, const Segment& b) {
      return a.name == b.name && a.shape == b.shape;
    };
    return std::ranges::equal(parameters, other.parameters, alike) &&
           std::ranges::equal(statistics, other.statistics, alike);
  }
};

std::map<std::string, Tensors> tensors_of(const NetworkConfig& config,
                                          const Layout& layout) {
  std::map<std::string, Tensors> layers;
  for (const Segment& s : layout.parameters)
    layers[config.layers[s.layer].name].parameters.push_back(s);
  for (const Segment& s : layout.statistics)
    layers[config.layers[s.layer].name].statistics.push_back(s);
  return layers;
}

std::vector<float> floats(const tensor::Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

void copy(std::span<const float> from, const std::vector<Segment>& its,
          std::vector<float>& to, const std::vector<Segment>& own) {
  for (std::size_t i = 0; i < own.size(); ++i)
    std::ranges::copy(from.subspan(static_cast<std::size_t>(its[i].offset),
                                   static_cast<std::size_t>(its[i].elements())),
                      to.begin() + own[i].offset);
}

void check_reset(std::span<const std::string> reset,
                 const NetworkConfig& config) {
  std::vector<std::string> known;
  known.reserve(config.layers.size());
  for (const LayerConfig& layer : config.layers) known.push_back(layer.name);
  for (const std::string& name : reset) {
    if (std::ranges::count(known, name) > 0) continue;
    const std::string near = nearest(name, known);
    throw Error{
        Code::kUsage,
        "--reset: no layer of the network is called '" + displayed(name) + "'" +
            (near.empty() ? "" : "; did you mean '" + displayed(near) + "'?")};
  }
}

bool same_inputs(const NetworkConfig& a, const NetworkConfig& b) {
  return std::ranges::equal(a.inputs, b.inputs,
                            [](const InputConfig& x, const InputConfig& y) {
                              return x.name == y.name && x.shape == y.shape;
                            });
}

// Outputs of the same names, types and numbers, that were not drawn anew.
bool same_outputs(const NetworkConfig& a, const NetworkConfig& b,
                  const Transfer& transfer) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    const LayerConfig &x = a.layers[a.outputs[i]], &y = b.layers[b.outputs[i]];
    if (x.name != y.name || x.type != y.type ||
        output_of(a, i).units != output_of(b, i).units ||
        std::ranges::count(transfer.drawn, y.name) > 0)
      return false;
  }
  return true;
}

void forget_inputs(data::Metadata& data) {
  std::erase_if(data.schema, [](const auto& field) {
    return field.first.starts_with("features");
  });
  data.recipe = nullptr;
  const auto forget = [](data::About& about) { about.columns.clear(); };
  forget(data);
  for (auto& [name, about] : data.parts) forget(about);
}

void forget_outputs(data::Metadata& data) {
  std::erase_if(data.schema, [](const auto& field) {
    return field.first.starts_with("labels");
  });
  const auto forget = [](data::About& about) {
    about.classes.clear();
    about.targets.clear();
  };
  forget(data);
  for (auto& [name, about] : data.parts) forget(about);
}

std::string listed(const std::vector<std::string>& names, const char* what) {
  if (names.empty()) return "";
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text + " " + what;
}

}  // namespace

std::string Transfer::to_text() const {
  std::string text;
  for (const std::string& part :
       {listed(taken, "taken over"), listed(drawn, "drawn anew"),
        listed(left, "of the model left out")})
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  return text;
}

Json Transfer::to_json() const {
  return {{"taken", taken}, {"drawn", drawn}, {"left", left}};
}

Started start_from(const Model& from, const NetworkConfig& config,
                   std::span<const std::string> reset) {
  check_reset(reset, config);
  const Layout layout = layout_of(config), before = layout_of(from.config);
  const auto own = tensors_of(config, layout),
             its = tensors_of(from.config, before);
  Started started;
  Model& model = started.model;
  model.config = config;
  model.data = from.data;
  model.provenance = from.provenance;
  model.parameters = floats(initial_parameters(config, layout));
  model.statistics = floats(initial_statistics(layout));
  auto& [taken, drawn, left] = started.transfer;
  for (const LayerConfig& layer : config.layers) {
    const auto mine = own.find(layer.name), other = its.find(layer.name);
    if (mine == own.end()) continue;
    if (other == its.end() || mine->second != other->second ||
        std::ranges::count(reset, layer.name) > 0) {
      drawn.push_back(layer.name);
      continue;
    }
    taken.push_back(layer.name);
    copy(from.weights(), other->second.parameters, model.parameters,
         mine->second.parameters);
    copy(from.statistics, other->second.statistics, model.statistics,
         mine->second.statistics);
  }
  if (taken.empty())
    throw Error{Code::kConfig,
                "no layer of the model has the name, and tensors of the "
                "shapes, of one of the network's"};
  for (const LayerConfig& layer : from.config.layers)
    if (its.contains(layer.name) && std::ranges::count(taken, layer.name) == 0)
      left.push_back(layer.name);

  started.same_inputs = same_inputs(from.config, config);
  started.same_outputs = same_outputs(from.config, config, started.transfer);
  model.normalizers.inputs.assign(config.inputs.size(), {});
  model.normalizers.outputs.assign(config.outputs.size(), {});
  if (started.same_inputs)
    model.normalizers.inputs = from.normalizers.inputs;
  else
    forget_inputs(model.data);
  if (started.same_outputs)
    model.normalizers.outputs = from.normalizers.outputs;
  else
    forget_outputs(model.data);
  return started;
}

}  // namespace dl::nn
