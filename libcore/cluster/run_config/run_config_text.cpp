// A plan as people and programs read it.

#include <algorithm>
#include <array>
#include <cstdio>

#include "libcore/cluster/run_config/run_config.h"
#include "libcore/nn/drawing.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/plan/value_memory.h"

namespace dl::cluster {
namespace {

std::string padded(const std::string& text, std::size_t width, bool right) {
  if (text.size() >= width) return text;
  const std::string space(width - text.size(), ' ');
  return right ? space + text : text + space;
}

std::string quantity(double value, const char* unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T"};
  int prefix = 0;
  for (; value >= 1000 && prefix < 4; ++prefix) value /= 1000;
  const std::string name = std::string(prefixes[prefix]) + unit;
  char text[48];
  std::snprintf(text, sizeof text, prefix ? "%.1f%s%s" : "%.0f%s%s", value,
                name.empty() ? "" : " ", name.c_str());
  return text;
}

double flops_of(const std::vector<nn::LayerSummary>& layers) {
  double flops = 0;
  for (const nn::LayerSummary& layer : layers) flops += layer.flops;
  return flops;
}

using Row = std::array<std::string, 8>;

const std::string& name_of(const nn::NetworkConfig& network, nn::Value v) {
  const std::size_t inputs = network.inputs.size();
  return v < inputs ? network.inputs[v].name : network.layers[v - inputs].name;
}

// "input" for the unnamed input of a chain of layers.
std::vector<std::string> names_of(const nn::NetworkConfig& network,
                                  const std::vector<nn::Value>& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const nn::Value v : values)
    names.push_back(name_of(network, v).empty() ? "input"
                                                : name_of(network, v));
  return names;
}

// Up to three of them.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 3) return text + " and " + std::to_string(names.size() - i);
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

// Rows of cells as wide as the widest of their column; numbers stand at the
// right.
std::string table(const std::vector<Row>& rows) {
  constexpr std::array<bool, 8> kRight{0, 0, 0, 1, 1, 1, 0, 0};
  std::array<std::size_t, 8> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (widths[i] > 0) line += padded(row[i], widths[i], kRight[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// The layers; of a graph its inputs as well, what goes into each, and a drawing
// beside them.
std::string layers_of(const nn::NetworkConfig& network,
                      const std::vector<nn::LayerSummary>& layers,
                      const nn::ValueMemory& memory) {
  const bool graph = network.is_graph();
  const auto drawn = graph ? nn::draw(network) : std::vector<std::string>();
  const auto first = [&](nn::Value v, const std::string& name) {
    return graph ? drawn[v] + " " + name : name;
  };
  const auto bytes = [&](nn::Value v) {
    const std::int64_t own = memory.values[v].bytes;
    return own == 0 ? "-" : quantity(static_cast<double>(own), "B");
  };
  const auto shares = [&](nn::Value v) {
    return listed(names_of(network, memory.values[v].shares));
  };
  const bool shared = std::ranges::any_of(
      memory.values, [](const auto& place) { return !place.shares.empty(); });
  std::vector<Row> rows{
      {graph ? std::string(drawn[0].size(), ' ') + " layer" : "layer", "type",
       "output", "parameters", "FLOPs/example", "bytes", graph ? "from" : "",
       shared ? "memory of" : ""}};
  for (nn::Value v = 0; graph && v < network.inputs.size(); ++v)
    rows.push_back({first(v, network.inputs[v].name), "input",
                    network.inputs[v].shape.to_string(), "", "", bytes(v), "",
                    shares(v)});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const nn::LayerSummary& layer = layers[i];
    const nn::Value v = network.value_of(i);
    rows.push_back(
        {first(v, layer.name), layer.type, layer.output.to_string(),
         std::to_string(layer.parameters), quantity(layer.flops, ""), bytes(v),
         graph ? listed(names_of(network, network.layers[i].from)) : "",
         shares(v)});
  }
  return table(rows);
}

Json written(const nn::NetworkConfig& network, const nn::ValueMemory& memory) {
  Json values = Json::array();
  for (nn::Value v = 0; v < memory.values.size(); ++v)
    values.push_back(
        {{"name", names_of(network, {v})[0]},
         {"bytes", memory.values[v].bytes},
         {"shares_with", names_of(network, memory.values[v].shares)}});
  return {{"bytes", memory.bytes},
          {"apart", memory.apart},
          {"values", std::move(values)}};
}

nn::ValueMemory memory_of(const RunConfig& plan, bool training) {
  return nn::value_memory(plan.model.config, nn::layout_of(plan.model.config),
                          plan.settings.batch, training);
}

}  // namespace

Json RunConfig::to_json() const {
  Json rows = Json::array();
  for (const nn::LayerSummary& layer : layers) {
    const auto extents = layer.output.extents();
    rows.push_back(
        {{"name", layer.name},
         {"type", layer.type},
         {"from",
          names_of(model.config, model.config.layers[rows.size()].from)},
         {"output", std::vector<std::int64_t>(extents.begin(), extents.end())},
         {"parameters", layer.parameters},
         {"flops", layer.flops}});
  }
  Json json{{"layers", std::move(rows)},
            {"parameters", parameters},
            {"statistics", statistics},
            {"updater_state", updater_state},
            {"memory", memory},
            {"values",
             {{"training", written(model.config, memory_of(*this, true))},
              {"prediction", written(model.config, memory_of(*this, false))}}},
            {"flops_per_example", flops_of(layers)},
            {"examples", examples_in(training)},
            {"batches_per_epoch", batches_per_epoch()},
            {"evaluation_examples", examples_in(evaluation)},
            {"configuration", configuration()}};
  if (transfer) json["transfer"] = transfer->to_json();
  return json;
}

std::string RunConfig::to_text() const {
  const nn::ValueMemory learning = memory_of(*this, true),
                        predicting = memory_of(*this, false);
  const auto size = [](std::int64_t bytes) {
    return quantity(static_cast<double>(bytes), "B");
  };
  std::string text = layers_of(model.config, layers, learning);
  text += "\nparameters   " + std::to_string(parameters) + " (" +
          quantity(4.0 * static_cast<double>(parameters), "B") + ")\n";
  text += "memory       " + quantity(static_cast<double>(memory), "B") +
          " a replica with one thread and batch " +
          std::to_string(settings.batch) + "\n";
  text += "values       " + size(learning.bytes) + " of it, with gradients; " +
          size(learning.apart) + " if none shared memory; in prediction " +
          size(predicting.bytes) + " for " + size(predicting.apart) + "\n";
  text += "FLOPs        " + quantity(flops_of(layers), "") +
          " forward for an example\n";
  if (transfer) text += "layers       " + transfer->to_text() + "\n";
  if (training)
    text += "examples     " + std::to_string(training->examples()) + " in " +
            std::to_string(training->shards().size()) + " shards, " +
            std::to_string(batches_per_epoch()) + " mini-batches an epoch";
  if (training && evaluation)
    text += "; " + std::to_string(evaluation->examples()) + " held out";
  return text + (training ? "\n\n" : "\n") +
         configuration().dump(2, ' ', false,
                              nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace dl::cluster
