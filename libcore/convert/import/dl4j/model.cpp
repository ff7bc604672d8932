// Goes through the vertices in the order of their parameters.

#include "libcore/convert/import/dl4j/model.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/document.h"
#include "libcore/convert/import/dl4j/inputs.h"
#include "libcore/convert/import/dl4j/site.h"
#include "libcore/convert/import/dl4j/state.h"

namespace dl::convert::dl4j {
namespace {

using Shapes = std::map<std::string, tensor::Shape>;

void check_shapes(const Conf& conf, const Shapes& shapes) {
  for (const auto& [name, shape] : shapes)
    if (!name.empty() &&
        std::ranges::find(conf.inputs, name) == conf.inputs.end())
      throw Error{Code::kUsage,
                  "--shape: the model has no input " + in_quotes(name)};
    else if (name.empty() && conf.inputs.size() != 1)
      throw Error{Code::kUsage,
                  "--shape: the model has several inputs; say which, as in "
                  "--shape " +
                      conf.inputs[0] + "=10"};
}

void add_inputs(const Conf& conf, const Shapes& shapes,
                const std::vector<data::Normalizer>& normalizers,
                Import& import, Result& result) {
  for (std::size_t i = 0; i < conf.inputs.size(); ++i) {
    const std::string& name = conf.inputs[i];
    const std::size_t columns =
        i < normalizers.size() ? normalizers[i].shift.size() : 0;
    const InputShape input = input_shape(conf, name, shapes, columns);
    Flow flow;
    static_cast<Value&>(flow) =
        import.graph->input(name, input.shape, input.tokens);
    flow.last = input.last;
    import.flows[name] = flow;
    result.inputs.push_back({name, input.shape.rank() > 1 && !input.last});
    if (input.shape.rank() > 2 && !input.last)
      import.notes->insert(
          "the input " + in_quotes(name) +
          " takes its channels last here: " + input.shape.to_string());
  }
}

Flow make(Import& import, const Vertex& vertex) {
  std::vector<Flow> in;
  for (const std::string& name : vertex.inputs) {
    const auto found = import.flows.find(name);
    if (found == import.flows.end())
      bad_data("the vertex " + in_quotes(vertex.name) + " takes " +
               in_quotes(name) + ", which does not come before it");
    in.push_back(found->second);
  }
  Site site(import, vertex, in);
  if (vertex.layer.is_null()) return make_vertex(site);
  if (in.size() != 1) return site.only();
  Site prepared = site;
  prepared.set_part("input");
  if (!vertex.preprocessor.is_null()) {
    const Flow value = preprocessed(prepared, vertex.preprocessor, in[0]);
    site = Site(import, vertex, {value});
  }
  return make_layer(site);
}

// Notes on settings of training of the whole model: what only the file says of
// how it was trained.
void note_training(const Conf& conf, std::set<std::string>& notes) {
  if (!conf.mean_gradient)
    notes.insert(
        "its gradients are sums over mini-batches (miniBatch), here they are "
        "means: multiply its learning rates by the mini-batch's size");
  if (!conf.minimizes)
    notes.insert("it maximizes its loss (minimize), which is minimized here");
  if (!conf.algorithm.empty() &&
      conf.algorithm != "STOCHASTIC_GRADIENT_DESCENT")
    notes.insert("its optimizationAlgo " + in_quotes(conf.algorithm) +
                 " is left out: it learns by stochastic gradient descent here");
}

// The numbers of a vector in the order of the layout.
void fill(const std::vector<nn::Segment>& segments, const Import& import,
          std::span<const float> from, bool both, std::vector<float>& to) {
  for (const nn::Segment& segment : segments) {
    const auto found = import.sources.find(segment.name);
    require(found != import.sources.end(), "a tensor that nothing fills");
    const Source& source = found->second;
    const auto part =
        std::span(to).subspan(static_cast<std::size_t>(segment.offset),
                              static_cast<std::size_t>(segment.elements()));
    const auto of = [&](std::size_t index) {
      if (index == kNoVariable) return std::span<const float>();
      const Variable& variable = import.variables[index];
      return from.subspan(variable.offset, variable.count);
    };
    source.map(of(source.variable), part);
    if (both && source.second != kNoVariable)
      source.then(of(source.second), part);
  }
}

// As our layout has it: by range, component by component.
void fill_state(const nn::Layout& layout, const Import& import,
                std::span<const float> state, nn::Model& model) {
  const auto components = unpacked_state(import.variables, state);
  model.updater_state.resize(static_cast<std::size_t>(layout.state_count));
  for (const nn::StateRange& range : layout.state) {
    for (const nn::Segment& segment : layout.parameters) {
      if (segment.offset < range.begin || segment.offset >= range.end) continue;
      const Source& source = import.sources.at(segment.name);
      if (source.variable == kNoVariable) continue;
      const Variable& variable = import.variables[source.variable];
      const std::vector<int> ours = state_of(variable.updater);
      for (std::size_t c = 0; c < ours.size(); ++c) {
        if (ours[c] >= range.per_parameter) continue;
        const auto at = static_cast<std::size_t>(
            range.offset + ours[c] * (range.end - range.begin) +
            segment.offset - range.begin);
        source.map(
            std::span(components[c]).subspan(variable.offset, variable.count),
            std::span(model.updater_state)
                .subspan(at, static_cast<std::size_t>(segment.elements())));
      }
    }
  }
}

struct Normalizers {
  std::vector<data::Normalizer> inputs, outputs;
};

Normalizers normalizers_of(const Archive& archive,
                           std::set<std::string>& notes) {
  Normalizers normalizers;
  const std::string* text = archive.text("normalizer");
  if (text == nullptr) return normalizers;
  const Json json = parse_json(*text, "its normalizer", Code::kData);
  if (json.contains("unread")) {
    notes.insert("its normalizer.bin is left out: " +
                 json["unread"].get<std::string>());
    return normalizers;
  }
  const JsonView view(json, Code::kData, "its normalizer");
  normalizers.inputs = data::normalizers_from_json(view.at("inputs"));
  normalizers.outputs = data::normalizers_from_json(view.at("outputs"));
  return normalizers;
}

// One for each input; a number for each index of the last dimension, or one.
void put_normalizers(const Normalizers& from, nn::Model& model,
                     const std::vector<tensor::Shape>& outputs,
                     std::set<std::string>& notes) {
  auto& to = model.normalizers;
  to.inputs.assign(model.config.inputs.size(), {});
  to.outputs.assign(model.config.outputs.size(), {});
  const auto put = [&](const std::vector<data::Normalizer>& given,
                       std::vector<data::Normalizer>& into, const auto& last,
                       const char* what) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].kind == "none") continue;
      const std::size_t count = given[i].shift.size();
      if (i < into.size() &&
          (count == 1 || static_cast<std::int64_t>(count) == last(i)))
        into[i] = given[i];
      else
        notes.insert(std::string("the normalizer of ") + what + " " +
                     std::to_string(i) + " is left out: it has " +
                     std::to_string(count) + " columns");
    }
  };
  put(
      from.inputs, to.inputs,
      [&](std::size_t i) { return model.config.inputs[i].shape.back(); },
      "input");
  put(
      from.outputs, to.outputs,
      [&](std::size_t i) { return outputs[i].back(); }, "output");
}

void note_members(const Archive& archive, std::set<std::string>& notes) {
  const std::string* left = archive.text("left_out");
  if (left == nullptr) return;
  std::string name;
  for (const char c : *left)
    if (c == '\n') {
      notes.insert("its member " + in_quotes(name) +
                   " is left out: it is an object of Java");
      name.clear();
    } else {
      name += c;
    }
}

nn::Model with_numbers(const Archive& archive, const Import& import,
                       const Json& document, Result& result) {
  nn::Model model;
  model.config = network_of(document);
  const nn::Layout layout = nn::layout_of(model.config);
  const auto coefficients = archive.arrays.at("coefficients.bin").values;
  std::size_t wanted = 0;
  if (!import.variables.empty())
    wanted = import.variables.back().offset + import.variables.back().count;
  if (coefficients.size() != wanted)
    bad_data("its coefficients.bin has " + std::to_string(coefficients.size()) +
             " numbers, its layers have " + std::to_string(wanted) +
             " parameters");
  model.parameters.resize(static_cast<std::size_t>(layout.parameter_count));
  model.statistics.resize(static_cast<std::size_t>(layout.statistics_count));
  fill(layout.parameters, import, coefficients, true, model.parameters);
  fill(layout.statistics, import, coefficients, true, model.statistics);
  if (layout.state_count == 0)
    model.training = {{"iteration", import.conf->iteration}};
  const auto state = archive.arrays.find("updaterState.bin");
  if (state == archive.arrays.end() || state->second.values.empty())
    return model;
  try {
    fill_state(layout, import, state->second.values, model);
    model.training = {{"iteration", import.conf->iteration}};
  } catch (const Error& e) {
    model.updater_state.clear();
    result.notes.insert("the state of its updaters is left out: " +
                        std::string(e.what()));
  }
  return model;
}

}  // namespace

Result make_model(const Archive& archive, const Shapes& shapes) {
  const std::string* text = archive.text("configuration.json");
  if (text == nullptr) text = archive.text("json");
  if (text == nullptr) bad_data("it has no member 'configuration.json'");
  const Conf conf = read_conf(*text);
  check_shapes(conf, shapes);
  for (bool sequences = true, each_step = false;;) {
    Result result;
    const Normalizers normalizers = normalizers_of(archive, result.notes);
    Graph graph(sequences, each_step
                               ? std::set<std::string>(conf.inputs.begin(),
                                                       conf.inputs.end())
                               : std::set<std::string>());
    Import import{.graph = &graph,
                  .conf = &conf,
                  .notes = &result.notes,
                  .each_step = each_step};
    add_inputs(conf, shapes, normalizers.inputs, import, result);
    for (const Vertex& vertex : conf.vertices)
      import.flows[vertex.name] = make(import, vertex);
    // Dense layers alone do not make a matrix a sequence.
    if (!each_step && !graph.reads_sequences() && has_sequences(import)) {
      each_step = true;
      continue;
    }
    note_training(conf, result.notes);
    note_members(archive, result.notes);
    std::vector<tensor::Shape> outputs;
    result.document = document_of(import, result.outputs, outputs);
    if (archive.arrays.count("coefficients.bin") > 0) {
      result.model = with_numbers(archive, import, result.document, result);
      put_normalizers(normalizers, *result.model, outputs, result.notes);
    } else {
      network_of(result.document);
    }
    return result;
  }
}

}  // namespace dl::convert::dl4j
