// Configuration, HDF5 and zip parts of a Keras file.

#include "libcore/convert/export/keras/model.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "libcore/base/snake_case.h"

namespace dl::convert {
namespace {

// The first that reads archives as these; later ones do, too.
constexpr char kKeras3[] = "3.0.0";
// Version in HDF5 files of Keras 2; Keras 3 reads them.
constexpr char kKeras2[] = "2.15.0";

Json keras_tensor(const KerasValue& value) {
  return {{"class_name", "__keras_tensor__"},
          {"config",
           {{"shape", value.shape},
            {"dtype", value.dtype},
            {"keras_history", {value.layer, 0, 0}}}}};
}

// Inputs as Keras 3 writes them: a layer takes one, or a list; attention takes
// each by itself.
Json call_of(const KerasNode& node) {
  Json args = Json::array();
  for (const KerasValue& value : node.inputs)
    args.push_back(keras_tensor(value));
  if (args.size() > 1 && node.type != "MultiHeadAttention")
    args = Json::array({args});
  Json calls = Json::array();
  if (!args.empty()) calls.push_back({{"args", args}, {"kwargs", node.call}});
  return calls;
}

// As Keras 2 does.
Json old_call_of(const KerasNode& node) {
  Json args = Json::array();
  for (const KerasValue& value : node.inputs)
    args.push_back({value.layer, 0, 0, node.call});
  return args.empty() ? args : Json::array({args});
}

Json model_json(const std::vector<KerasNode>& nodes,
                const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, KerasFormat format) {
  const bool old = format == KerasFormat::kHdf5;
  const auto ends = [&](const std::vector<std::string>& names) {
    Json all = Json::array();
    for (const std::string& name : names) all.push_back({name, 0, 0});
    return all.size() == 1 && !old ? all[0] : all;
  };
  Json layers = Json::array();
  for (const KerasNode& node : nodes) {
    Json layer = keras_object(node.type, node.config);
    if (old) {  // said within others alone
      layer.erase("module");
      layer.erase("registered_name");
    }
    layer["name"] = node.name;
    layer["inbound_nodes"] = old ? old_call_of(node) : call_of(node);
    layers.push_back(std::move(layer));
  }
  Json whole{{"class_name", "Functional"},
             {"config",
              {{"name", "network"},
               {"trainable", true},
               {"layers", layers},
               {"input_layers", ends(inputs)},
               {"output_layers", ends(outputs)}}}};
  if (old) return whole;
  whole["module"] = "keras.src.models.functional";
  whole["registered_name"] = "Functional";
  return whole;
}

// How far layers are from the outputs, and in which order these lead to them.
class Order {
 public:
  explicit Order(const std::vector<KerasNode>& nodes) : nodes_(nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) by_name_[nodes[i].name] = i;
    depth_.resize(nodes.size());
    found_.resize(nodes.size(), kNowhere);
  }

  std::vector<KerasNode> of(const std::vector<std::string>& outputs) {
    for (const std::string& output : outputs) visit(by_name_.at(output));
    // Inputs that nothing is made of come before the last.
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (found_[i] == kNowhere && nodes_[i].type == "InputLayer") {
        found_[i] = 0;
        done_.insert(done_.begin(), i);
      }
    // Each comes behind all that it takes.
    for (std::size_t i = done_.size(); i-- > 0;)
      for (const KerasValue& value : nodes_[done_[i]].inputs) {
        std::size_t& depth = depth_[by_name_.at(value.layer)];
        depth = std::max(depth, depth_[done_[i]] + 1);
      }
    std::ranges::sort(done_, [&](std::size_t a, std::size_t b) {
      return std::pair(depth_[b], found_[a]) < std::pair(depth_[a], found_[b]);
    });
    std::vector<KerasNode> ordered;
    ordered.reserve(done_.size());
    for (const std::size_t i : done_) ordered.push_back(nodes_[i]);
    return ordered;
  }

 private:
  // From the outputs on, depth first, without recursion: networks are deep.
  void visit(std::size_t output) {
    std::vector<std::pair<std::size_t, std::size_t>> open;
    const auto enter = [&](std::size_t at) {
      if (found_[at] != kNowhere) return;
      found_[at] = count_++;
      open.emplace_back(at, 0);
    };
    enter(output);
    while (!open.empty()) {
      auto& [at, next] = open.back();
      if (next < nodes_[at].inputs.size()) {
        enter(by_name_.at(nodes_[at].inputs[next++].layer));
        continue;
      }
      done_.push_back(at);
      open.pop_back();
    }
  }

  static constexpr auto kNowhere = static_cast<std::size_t>(-1);

  const std::vector<KerasNode>& nodes_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::size_t> depth_, found_, done_;
  std::size_t count_ = 1;
};

}  // namespace

std::vector<KerasNode> in_keras_order(const std::vector<KerasNode>& nodes,
                                      const std::vector<std::string>& outputs) {
  return Order(nodes).of(outputs);
}

std::string keras_archive(const std::vector<KerasNode>& nodes,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
  Hdf5Content content;
  std::map<std::string, int> counts;
  for (const KerasNode& node : nodes) {
    std::string path = "layers/" + snake_case(node.type);
    const int count = counts[path]++;
    if (count > 0) path += "_" + std::to_string(count);
    content.groups.push_back(path + "/vars");
    for (const auto& [at, tensor] : node.weights)
      content.tensors[path + "/" + at] = tensor;
  }
  const Json config = model_json(nodes, inputs, outputs, KerasFormat::kArchive);
  return zip_file(
      {{"metadata.json", dump_json({{"keras_version", kKeras3},
                                    {"date_saved", "2020-01-01@00:00:00"}})},
       {"config.json", dump_json(config)},
       {"model.weights.h5", hdf5_file(content)}});
}

std::string keras_hdf5(const std::vector<KerasNode>& nodes,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
  const std::string root = "model_weights";
  Hdf5Content content;
  content.groups.push_back(root);
  std::vector<std::string>& names = content.lists[root]["layer_names"];
  for (const KerasNode& node : nodes) {
    const std::string group = root + "/" + node.name;
    names.push_back(node.name);
    content.groups.push_back(group);
    std::vector<std::string>& weights = content.lists[group]["weight_names"];
    for (const auto& [at, tensor] : node.weights) {
      weights.push_back(node.name + "/" + at);
      content.tensors[group + "/" + weights.back()] = tensor;
    }
  }
  const Json config = model_json(nodes, inputs, outputs, KerasFormat::kHdf5);
  for (const std::string& at : {std::string(), root}) {
    content.texts[at]["keras_version"] = kKeras2;
    content.texts[at]["backend"] = "tensorflow";
  }
  content.texts[""]["model_config"] = dump_json(config);
  return hdf5_file(content);
}

}  // namespace dl::convert
