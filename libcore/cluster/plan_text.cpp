// A plan as people and programs read it.

#include <cstdio>

#include "libcore/cluster/plan.h"

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

std::int64_t examples_of(const std::unique_ptr<MasterData>& data) {
  return data ? data->examples() : 0;
}

}  // namespace

Json Plan::to_json() const {
  Json rows = Json::array();
  for (const nn::LayerSummary& layer : layers) {
    const auto extents = layer.output.extents();
    rows.push_back(
        {{"name", layer.name},
         {"type", layer.type},
         {"output", std::vector<std::int64_t>(extents.begin(), extents.end())},
         {"parameters", layer.parameters},
         {"flops", layer.flops}});
  }
  Json json{{"layers", std::move(rows)},
            {"parameters", parameters},
            {"statistics", statistics},
            {"updater_state", updater_state},
            {"memory", memory},
            {"flops_per_example", flops_of(layers)},
            {"examples", examples_of(training)},
            {"batches_per_epoch", batches_per_epoch()},
            {"evaluation_examples", examples_of(evaluation)},
            {"configuration", configuration()}};
  if (transfer) json["transfer"] = transfer->to_json();
  return json;
}

std::string Plan::to_text() const {
  std::string text = padded("layer", 20, false) + padded("type", 14, false) +
                     padded("output", 18, false) +
                     padded("parameters", 12, true) +
                     padded("FLOPs/example", 16, true) + "\n";
  for (const nn::LayerSummary& layer : layers)
    text += padded(layer.name, 20, false) + padded(layer.type, 14, false) +
            padded(layer.output.to_string(), 18, false) +
            padded(std::to_string(layer.parameters), 12, true) +
            padded(quantity(layer.flops, ""), 16, true) + "\n";
  text += "\nparameters   " + std::to_string(parameters) + " (" +
          quantity(4.0 * static_cast<double>(parameters), "B") + ")\n";
  text += "memory       " + quantity(static_cast<double>(memory), "B") +
          " a replica with one thread and batch " +
          std::to_string(settings.batch) + "\n";
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
