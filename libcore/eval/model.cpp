// Evaluation of a network's predictions.

#include "libcore/eval/model.h"

#include "libcore/base/error.h"
#include "libcore/data/label_mask.h"
#include "libcore/eval/forecast.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/target_source.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::eval {
namespace {

std::size_t place_of(const Evaluation& evaluation, const Subjects& subjects) {
  for (std::size_t i = 0; i < subjects.size(); ++i)
    if (subjects[i].output == evaluation.output()) return i;
  throw Error{Code::kBug, "an evaluation of no output"};
}

std::string usual_kind(const nn::Model& model, std::size_t output,
                       bool threshold_given) {
  using device::Activation;
  const nn::NetworkConfig& config = model.config;
  if (const auto target = config.layers[config.outputs[output]].target)
    return nn::target_source(config, *target) ? "regression" : "";
  const nn::OutputSpec spec = output_of(model.config, output);
  const bool logits = nn::layers::is_from_logits(
      config.layers[config.outputs[output]].settings);
  const Activation last =
      logits ? device::activation_inside(spec.loss.kind).value()
             : spec.activation.kind;
  const bool by_sign =
      nn::sides_are_classes(model.data, model.config, output) ||
      (logits && last == Activation::kSigmoid);
  if (by_sign) return threshold_given ? "binary" : "binary:threshold=0";
  if (last == Activation::kSigmoid) return "binary";
  const bool classes = last == Activation::kSoftmax ||
                       last == Activation::kLogSoftmax ||
                       nn::are_classes(model.data, model.config, output);
  return classes ? "classification" : "regression";
}

}  // namespace

Subjects subjects_of(const nn::NetworkConfig& config,
                     const data::Metadata& data) {
  Subjects subjects;
  const nn::Wanted wanted = nn::wanted_by(config, nn::layout_of(config));
  for (std::size_t i = 0; i < wanted.outputs.size(); ++i)
    subjects.push_back(
        {wanted.outputs[i].units, nn::output_names(config, data, i),
         wanted.outputs[i].part, nn::says_probabilities(config, i)});
  return subjects;
}

std::vector<std::string> usual_kinds(const nn::Model& model,
                                     bool threshold_given) {
  std::vector<std::string> kinds;
  kinds.reserve(model.config.outputs.size());
  for (std::size_t i = 0; i < model.config.outputs.size(); ++i)
    kinds.push_back(usual_kind(model, i, threshold_given));
  return kinds;
}

void see_history(const Evaluations& all, const Subjects& subjects,
                 const data::Metadata& known, const data::DataSet& set) {
  for (const auto& evaluation : all)
    if (auto* forecast = dynamic_cast<Forecast*>(evaluation.get()))
      compare_naive(*forecast, known, set,
                    subjects[place_of(*evaluation, subjects)].outputs);
}

void see_stream(const Evaluations& all, const data::Metadata& stream) {
  for (const auto& evaluation : all)
    if (auto* forecast = dynamic_cast<Forecast*>(evaluation.get()))
      take_baseline(*forecast, stream);
}

void add(const Evaluations& all, const Subjects& subjects,
         const nn::Network& network, const nn::Batch& batch,
         const std::vector<nn::Prediction>& outputs, tensor::Tensor& product) {
  for (const auto& evaluation : all) {
    const std::size_t i = place_of(*evaluation, subjects);
    tensor::Tensor room;
    const tensor::Tensor& values = outputs.at(i).values;
    evaluation->add(
        values, network.labels(batch, i, values, room),
        data::mask_of_steps(batch.outputs[i].mask, outputs[i].mask(), product));
  }
}

}  // namespace dl::eval
