// Resolution of class weights by name and "balanced".

#include "libcore/nn/data/class_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn {
namespace {

constexpr const char* kKey = "class_weights";

[[noreturn]] void refuse(const LayerConfig& layer, const std::string& why) {
  throw Error{Code::kConfig,
              "layer '" + displayed(layer.name) + "': " + kKey + ": " + why};
}

// By name.
Json named_weights(const LayerConfig& layer,
                   const std::vector<std::string>& names, std::size_t count) {
  Json weights(count, 1.0);
  for (const auto& [name, weight] : layer.settings.at(kKey).items()) {
    const auto found = std::ranges::find(names, name);
    const auto place = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
      const std::string near = nearest(name, names);
      refuse(
          layer,
          names.empty()
              ? "the data have no names for classes; give an array"
              : "the data have no class " + in_quotes(name) +
                    (near.empty() ? ", but " + std::to_string(names.size()) +
                                        ", from " + in_quotes(names.front()) +
                                        " to " + in_quotes(names.back())
                                  : "; did you mean " + in_quotes(near) + "?"));
    }
    if (place < count) weights[place] = weight.get<double>();
  }
  return weights;
}

Json balanced_weights(const std::vector<double>& counts) {
  double all = 0, classes = 0;  // that there are
  for (const double count : counts) {
    all += count;
    if (count > 0) ++classes;
  }
  Json weights = Json::array();
  for (const double count : counts)
    weights.push_back(count > 0 ? all / (classes * count) : 1.0);
  return weights;
}

}  // namespace

bool has_classes(const data::Metadata& data, const WantedOutput& output) {
  const auto labels = data.schema.find(output.tensor);
  return !output.target && labels != data.schema.end() &&
         !tensor::is_real(labels->second.dtype) &&
         labels->second.shape.elements() == output.places.elements();
}

void count_classes(const data::DataSet& set, const WantedOutput& output,
                   std::vector<double>& counts) {
  const tensor::Tensor& labels = set.get(output.tensor);
  const auto mask = set.tensors.find(output.mask);
  const bool masked =
      mask != set.tensors.end() && mask->second.elements() == labels.elements();
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    if (masked && mask->second.value(i) == 0) continue;
    const double label = labels.value(i);
    if (label >= 0 && label < static_cast<double>(counts.size()))
      ++counts[static_cast<std::size_t>(label)];
  }
}

void settle_class_weights(NetworkConfig& config, const data::Metadata& data,
                          const EachRecord& records) {
  const Wanted wanted = wanted_by(config, layout_of(config));
  std::vector<std::vector<double>> counts(config.outputs.size());
  bool any = false;
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    LayerConfig& layer = config.layers[config.outputs[i]];
    if (!layer.settings.has(kKey)) continue;
    const auto count =
        static_cast<std::size_t>(layers::class_weights_wanted(layer.settings));
    if (layer.settings.at(kKey).is_string()) {
      if (!has_classes(data, wanted.outputs[i]))
        refuse(layer, "\"balanced\" is for labels that are one class each");
      counts[i].resize(count);
      any = true;
    } else if (layer.settings.at(kKey).is_object()) {
      layer.settings.set(
          kKey, named_weights(layer, output_names(config, data, i), count));
    }
  }
  if (!any) return;
  records([&](const data::DataSet& set) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (!counts[i].empty()) count_classes(set, wanted.outputs[i], counts[i]);
  });
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (!counts[i].empty())
      config.layers[config.outputs[i]].settings.set(
          kKey, balanced_weights(counts[i]));
}

std::optional<double> mean_label_weight(const NetworkConfig& config,
                                        const data::Metadata& data,
                                        const EachRecord& records) {
  if (config.outputs.size() != 1) return std::nullopt;
  const LayerSettings& settings = config.layers[config.outputs[0]].settings;
  if (!settings.has(kKey) || !settings.at(kKey).is_array()) return std::nullopt;
  const auto weights = settings.at(kKey).get<std::vector<double>>();
  const WantedOutput output = wanted_by(config, layout_of(config)).outputs[0];
  const bool of_outputs =
      output.units > 1 && output.loss == device::Loss::kBinaryCrossEntropy;
  if (!of_outputs && !has_classes(data, output)) return std::nullopt;
  std::vector<double> counts(weights.size(), of_outputs ? 1 : 0);
  if (!of_outputs)
    records(
        [&](const data::DataSet& set) { count_classes(set, output, counts); });
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (all == 0) return std::nullopt;
  return std::inner_product(counts.begin(), counts.end(), weights.begin(),
                            0.0) /
         all;
}

}  // namespace dl::nn
