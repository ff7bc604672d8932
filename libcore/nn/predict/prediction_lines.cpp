// Predictions as JSON Lines.

#include "libcore/nn/predict/prediction_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/names.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

template <typename Number>
void append(std::string& text, Number number) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end.ptr);
}

// The text of row i, without the NULs that pad it.
std::string id_of(const tensor::Tensor& ids, std::int64_t i) {
  const auto width = static_cast<std::size_t>(ids.shape()[1]);
  const auto row = ids.as<std::uint8_t>().subspan(
      static_cast<std::size_t>(i) * width, width);
  return {row.begin(), std::ranges::find(row, std::uint8_t{0})};
}

}  // namespace

void check_finite(const tensor::Tensor& outputs, std::int64_t first) {
  const std::span<const float> values = outputs.as<float>();
  const auto bad = std::find_if(values.begin(), values.end(),
                                [](float y) { return !std::isfinite(y); });
  if (bad == values.end()) return;
  throw Error{Code::kData, "the model's output for example " +
                               std::to_string(first + (bad - values.begin()) *
                                                          outputs.shape()[0] /
                                                          outputs.elements()) +
                               " is not finite"};
}

// An output that has a loss names what it can; any other layer has values.
PredictionLines::Output PredictionLines::output_of(const Model& model,
                                                   std::size_t i) {
  const NetworkConfig& config = model.config;
  const LayerConfig& layer = config.layers[config.outputs[i]];
  const Layout layout = layout_of(config);
  const ValueSpec& form = layout.layers[config.outputs[i]].output;
  Output output;
  output.key = dump_json(layer.name);
  const bool has_loss = layer.type->output != nullptr;
  output.flat = form.shape.rank() > 2 || !(has_loss || form.steps);
  output.units = output.flat ? form.shape.elements() : form.shape.back();
  const device::Activation last = has_loss
                                      ? nn::output_of(config, i).activation.kind
                                      : device::Activation::kIdentity;
  output.is_sigmoid = last == device::Activation::kSigmoid;
  if (output.flat || !has_loss) return output;

  const data::Metadata data =
      model.data.part(wanted_by(config, layout).outputs[i].part);
  std::vector<std::string> names = output_names(config, model.data, i);
  const bool pair =
      output.units == 1 && output.is_sigmoid && data.classes.size() == 2;
  output.names_class = pair || last == device::Activation::kSoftmax;
  // A single value for two classes says how much it is the second, as a
  // probability does.
  if (!output.names_class && output.units == 1 && data.classes.size() == 2)
    names.erase(names.begin());
  const std::int64_t count = pair ? 2 : output.units;
  for (std::int64_t j = 0; j < count; ++j)
    if (output.names_class || !names.empty())
      output.names.push_back(dump_json(output_name(names, j)));
  return output;
}

PredictionLines::PredictionLines(const Model& model, std::int64_t top,
                                 std::optional<double> threshold) {
  std::size_t classes = 0;
  for (std::size_t i = 0; i < model.config.outputs.size(); ++i) {
    outputs_.push_back(output_of(model, i));
    const std::string& key = outputs_[i].key;
    if (model.config.outputs.size() > 1 &&
        (key == R"("index")" || key == R"("id")"))
      throw Error{Code::kConfig, "an output is called " + key +
                                     ", as another field of the lines is; "
                                     "--format dls takes it"};
    if (outputs_[i].names_class)
      classes = std::max(classes, outputs_[i].names.size());
  }
  if (top < 1 || (top > 1 && std::cmp_greater(top, classes)))
    throw Error{Code::kUsage,
                classes > 0 ? "--top: want 1.." + std::to_string(classes) +
                                  ", got " + std::to_string(top)
                            : "--top: this model names no classes"};
  for (Output& output : outputs_)
    output.top = std::min(top, static_cast<std::int64_t>(output.names.size()));
  if (!threshold) return;
  if (!(*threshold >= 0 && *threshold <= 1))
    throw Error{Code::kUsage, "--threshold: want 0..1"};
  if (std::ranges::none_of(outputs_, &Output::decides))
    throw Error{Code::kUsage,
                "--threshold is for sigmoids and for a softmax of two classes; "
                "of others the largest output is the class"};
  for (Output& output : outputs_)
    if (output.decides()) output.threshold = static_cast<float>(*threshold);
}

void PredictionLines::Output::append_class(std::string& line,
                                           const float* row) const {
  const float pair[] = {1 - row[0], row[0]};
  const float* p = units == 1 && names.size() == 2 ? pair : row;
  const auto classes = static_cast<std::int64_t>(names.size());
  std::vector<std::int64_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  // Equals in the order of classes; a tie of two is the second's, since 0.5
  // reaches the threshold.
  const bool second = p == pair;
  std::partial_sort(order.begin(), order.begin() + top, order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      if (p[a] != p[b]) return p[a] > p[b];
                      return second ? a > b : a < b;
                    });
  const auto append_one = [&](std::int64_t j) {
    line +=
        "\"class\":" + names[static_cast<std::size_t>(j)] + ",\"probability\":";
    append(line, p[j]);
  };
  append_one(!threshold ? order[0] : p[1] >= *threshold ? 1 : 0);
  if (top == 1) return;
  line += ",\"top\":[";
  for (std::int64_t k = 0; k < top; ++k) {
    line += k == 0 ? "{" : ",{";
    append_one(order[static_cast<std::size_t>(k)]);
    line += '}';
  }
  line += ']';
}

template <typename Append>
void PredictionLines::Output::append_units(std::string& line,
                                           Append append_unit) const {
  line += names.empty() ? '[' : '{';
  for (std::int64_t j = 0; j < units; ++j) {
    if (j > 0) line += ',';
    if (!names.empty()) line += names[static_cast<std::size_t>(j)] + ':';
    append_unit(j);
  }
  line += names.empty() ? ']' : '}';
}

void PredictionLines::Output::append_outputs(std::string& line,
                                             const float* row) const {
  line += "\"outputs\":";
  append_units(line, [&](std::int64_t j) { append(line, row[j]); });
  if (!threshold) return;
  line += ",\"yes\":";
  append_units(line, [&](std::int64_t j) {
    line += row[j] >= *threshold ? "true" : "false";
  });
}

void PredictionLines::Output::append_row(std::string& line,
                                         const float* row) const {
  if (names_class)
    append_class(line, row);
  else
    append_outputs(line, row);
}

// The members of an object, without its braces.
void PredictionLines::Output::append_example(std::string& line,
                                             const Prediction& said,
                                             std::int64_t i) const {
  const tensor::Tensor& outputs = said.values;
  const tensor::Tensor* mask = said.mask();
  const std::int64_t steps = outputs.elements() / outputs.shape()[0] / units;
  const float* row = outputs.as<float>().data() + i * steps * units;
  if (flat || outputs.shape().rank() < 3) return append_row(line, row);
  line += "\"steps\":[";
  for (std::int64_t t = 0; t < steps; ++t, row += units) {
    if (t > 0) line += ',';
    if (mask != nullptr && mask->value(i * steps + t) == 0) {
      line += "null";
      continue;
    }
    line += '{';
    append_row(line, row);
    line += '}';
  }
  line += ']';
}

std::string PredictionLines::lines(std::span<const Prediction> outputs,
                                   std::int64_t first,
                                   const LineTensors& of) const {
  for (const Prediction& output : outputs) check_finite(output.values, first);
  const bool several = outputs.size() > 1;
  std::string text;
  for (std::int64_t i = 0; i < outputs[0].values.shape()[0]; ++i) {
    text += "{\"index\":";
    append(text, of.index != nullptr
                     ? of.index->as<std::int64_t>()[static_cast<std::size_t>(i)]
                     : first + i);
    if (of.id != nullptr) text += ",\"id\":" + dump_json(id_of(*of.id, i));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      text += several ? ',' + outputs_[k].key + ":{" : ",";
      outputs_[k].append_example(text, outputs[k], i);
      if (several) text += '}';
    }
    text += "}\n";
  }
  return text;
}

}  // namespace dl::nn
