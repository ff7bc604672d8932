#include "libcore/plot/embedding/seen_examples.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "libcore/base/display.h"
#include "libcore/data/format/dataset.h"
#include "libcore/eval/labels.h"
#include "libcore/eval/model.h"
#include "libcore/nn/predict/part_of.h"
#include "libcore/nn/predict/predictor.h"

namespace dl::plot {
namespace {

constexpr std::size_t kMostLayersSeen = 100,
                      kMostValuesSeen = std::size_t{1} << 20;
constexpr std::size_t kMostGroups = 9;  // and one for others

// The last layer before the output that has values of its own.
std::string last_hidden(const nn::NetworkConfig& network) {
  nn::Value at = network.value_of(network.outputs.at(0));
  at = network.layers[at - network.inputs.size()].from.at(0);
  if (at < network.inputs.size())
    throw Error{Code::kUsage,
                "the model has no layer before its output; --layer names "
                "another"};
  return network.layers[at - network.inputs.size()].name;
}

struct Enough {};

void read_some(const nn::Model& part, const std::string& spec,
               std::int64_t batch, const Log& log,
               const nn::Predictor::Take& take) {
  nn::PredictorOptions options;
  options.batch = batch;
  options.log = log;
  nn::Predictor predictor(part, options);
  try {
    predictor.run(
        spec, [](const data::Metadata&) {}, take);
  } catch (const Enough&) {
    // The rest is not wanted.
  }
}

const tensor::Tensor* labels_of(const data::DataSet& set) {
  for (const auto& [name, tensor] : set.tensors)
    if (name == "labels" || name.starts_with("labels/")) return &tensor;
  return nullptr;
}

// Class of example i, or -1.
std::int64_t class_of(const data::DataSet& set, std::int64_t i,
                      const eval::Subject& subject) {
  const tensor::Tensor* labels = labels_of(set);
  if (labels == nullptr || subject.outputs < 2 || labels->shape().rank() > 2)
    return -1;
  try {
    return eval::Labels(*labels, {labels->shape()[0], subject.outputs}, 0)
        .class_of(i);
  } catch (const Error&) {
    return -1;  // numbers, or several at once
  }
}

// The most frequent classes by themselves, others together.
void group(SeenExamples& seen, const std::vector<std::int64_t>& classes,
           const eval::Subject& subject) {
  std::map<std::int64_t, std::size_t> counts;
  for (const std::int64_t one : classes) ++counts[one];
  std::vector<std::int64_t> order;
  order.reserve(counts.size());
  for (const auto& [one, count] : counts) order.push_back(one);
  const bool too_many = order.size() > kMostGroups + 1;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::int64_t one) { return counts[one]; });
  if (too_many) order.resize(kMostGroups);
  std::ranges::sort(order);
  for (const std::int64_t one : order) {
    const auto at = static_cast<std::size_t>(one);
    seen.names.push_back(one < 0                     ? "examples"
                         : at < subject.names.size() ? subject.names[at]
                                                     : std::to_string(one));
  }
  if (too_many) seen.names.emplace_back("others");
  for (const std::int64_t one : classes) {
    const auto at = static_cast<std::size_t>(one);
    seen.classes.push_back(one < 0                     ? ""
                           : at < subject.names.size() ? subject.names[at]
                                                       : std::to_string(one));
    seen.groups.push_back(static_cast<std::size_t>(
        std::ranges::find(order, one) - order.begin()));
  }
}

}  // namespace

SeenExamples see_examples(const nn::Model& model, const Look& look,
                          const Log& log) {
  SeenExamples seen;
  seen.layer = look.layer.empty() ? last_hidden(model.config) : look.layer;
  const auto subjects = eval::subjects_of(model.config, model.data);
  std::vector<std::int64_t> classes;
  const nn::Model part = nn::part_of(model, {}, std::span(&seen.layer, 1));
  read_some(part, look.examples, 256, log,
            [&](const data::DataSet& set, const auto& outputs) {
              const tensor::Tensor& values = outputs.at(0).values;
              const std::size_t width =
                  values.as<float>().size() /
                  static_cast<std::size_t>(set.examples());
              seen.points.dimensions = width;
              for (std::int64_t i = 0; i < set.examples(); ++i) {
                if (seen.points.count == SeenExamples::kMost ||
                    (seen.points.count + 1) * width > kMostValuesSeen * 16) {
                  seen.cut = true;
                  throw Enough{};
                }
                const auto row = values.as<float>().subspan(
                    static_cast<std::size_t>(i) * width, width);
                if (!std::ranges::all_of(
                        row, [](float x) { return std::isfinite(x); }))
                  throw Error{Code::kData, "values of layer " +
                                               in_quotes(seen.layer) +
                                               " are not finite"};
                seen.points.values.insert(seen.points.values.end(), row.begin(),
                                          row.end());
                ++seen.points.count;
                classes.push_back(class_of(set, i, subjects.at(0)));
                const auto ids = set.tensors.find("id");
                seen.ids.push_back(ids == set.tensors.end()
                                       ? std::to_string(seen.points.count - 1)
                                       : data::id_text(ids->second, i));
              }
            });
  if (seen.points.count == 0)
    throw Error{Code::kData, in_quotes(look.examples) + " has no examples"};
  group(seen, classes, subjects.at(0));
  std::vector<std::string> layers;
  for (const nn::LayerConfig& layer : model.config.layers)
    if (layers.size() < kMostLayersSeen) layers.push_back(layer.name);
  const nn::Model whole = nn::part_of(model, {}, layers);
  read_some(
      whole, look.examples, 1, {},
      [&](const data::DataSet&, const auto& outputs) {
        for (std::size_t i = 0; i < layers.size(); ++i) {
          const auto all = outputs.at(i).values.template as<float>();
          seen.first.push_back(
              {layers[i],
               outputs.at(i).values.shape().without_first(),
               {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(
                                               all.size(), kMostValuesSeen))}});
        }
        throw Enough{};
      });
  return seen;
}

}  // namespace dl::plot
