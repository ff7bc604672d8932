// The network document of a DL4J model.

#include "libcore/convert/import/dl4j/document.h"

#include <algorithm>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert::dl4j {
namespace {

// A key that all layers which can have it give alike becomes the network's.
void hoist(Json& document, Json& nodes, const char* key) {
  std::optional<Json> common;
  for (const Json& node : nodes) {
    const nn::Trains trains =
        nn::layer_type(node["type"].get<std::string>()).trains;
    const bool has_weights = trains == nn::Trains::kWeights ||
                             trains == nn::Trains::kRecurrentWeights;
    const bool wants = std::string_view(key) == "updater"
                           ? trains != nn::Trains::kNothing
                           : has_weights;
    if (!wants) continue;
    const Json own = node.value(key, Json());
    if (own.is_null() || (common && *common != own)) return;
    common = own;
  }
  if (!common) return;
  document[key] = *common;
  for (Json& node : nodes) node.erase(key);
}

// Truncated as in DL4J, where all layers can be.
void truncate(const Import& import, Json& document) {
  const Conf& conf = *import.conf;
  if (!conf.truncated) return;
  const bool recurrent = import.graph->reads_sequences();
  if (!recurrent || conf.forward_steps < 1) return;
  Json with = document;
  with["tbptt_length"] = conf.forward_steps;
  with["tbptt_update"] = true;
  try {
    network_of(with);
    if (conf.backward_steps != conf.forward_steps)
      import.notes->insert(
          "gradients go back as many steps as forward here "
          "(tbpttBackLength)");
  } catch (const Error&) {
    with.erase("tbptt_update");
    import.notes->insert(
        "its truncated back-propagation makes one update for a mini-batch "
        "here: not all of its layers can go on from segment to segment");
  }
  document = with;
}

}  // namespace

nn::NetworkConfig network_of(const Json& document) {
  try {
    return nn::parse_network(dump_json(document), "what is made of it");
  } catch (const Error& e) {
    const std::string message = e.what();
    throw Error{Code::kData, message.substr(0, message.find('\n'))};
  }
}

bool has_sequences(const Import& import) {
  return std::ranges::any_of(import.conf->inputs, [&](const auto& name) {
    const Flow& flow = import.flows.at(name);
    return !flow.form.tokens && flow.shape().rank() == 2;
  });
}

Json document_of(Import& import, std::vector<Port>& ports,
                 std::vector<tensor::Shape>& shapes) {
  std::vector<Value> values;
  std::vector<Aim> aims;
  for (const std::string& name : import.conf->outputs) {
    const auto found = import.flows.find(name);
    if (found == import.flows.end())
      throw Error{Code::kData,
                  "its output " + in_quotes(name) + " is none of its vertices"};
    values.push_back(found->second);
    aims.push_back(import.aims.count(name) > 0 ? import.aims[name] : Aim{});
    const Flow& flow = found->second;
    ports.push_back({name, flow.shape().rank() > 1 && !flow.last});
    shapes.push_back(found->second.shape());
  }
  Json document = import.graph->document(values, aims);
  Json& nodes = document[document.contains("layers") ? "layers" : "nodes"];
  for (const char* key : {"updater", "regularization", "weight_init"})
    hoist(document, nodes, key);
  if (import.conf->seed >= 0) document["seed"] = import.conf->seed;
  truncate(import, document);
  return document;
}

}  // namespace dl::convert::dl4j
