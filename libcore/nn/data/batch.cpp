// Checks of mini-batches and metadata against what a network wants.

#include "libcore/nn/data/batch.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/target_range.h"

namespace dl::nn {
namespace {

using device::Loss;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

// "input 'left': " of one of several.
std::string named(const char* what, const std::string& part) {
  return part.empty() ? "" : std::string(what) + " '" + displayed(part) + "': ";
}

void check_example(const Shape& example, const WantedInput& wanted) {
  const Shape& input = wanted.shape;
  if (example == input) return;
  if (example.rank() == 1 && example.elements() == input.elements()) return;
  // Columns that lose their places.
  if (wanted.mixed && input.rank() == 1 && example.elements() == input[0])
    return;
  // Numbers in a table's only column.
  if (input.rank() == 1 && example == Shape{input[0], 1}) return;
  const bool sequences =
      example.rank() == 2 && input.rank() == 2 && example[1] == input[1];
  bad_data(named("input", wanted.part) + "examples are " + example.to_string() +
           ", the network wants " + input.to_string() +
           (sequences ? " (dl-preprocess --steps makes them as long)" : ""));
}

bool starts_with(const Shape& shape, const Shape& places) {
  return shape.rank() >= places.rank() &&
         std::ranges::equal(
             shape.extents().first(static_cast<std::size_t>(places.rank())),
             places.extents());
}

Shape after(Shape shape, int dimensions) {
  for (int i = 0; i < dimensions; ++i) shape = shape.without_first();
  return shape;
}

Shape with_last(const Shape& places, std::int64_t units) {
  std::vector<std::int64_t> extents(places.extents().begin(),
                                    places.extents().end());
  extents.push_back(units);
  return Shape(std::span<const std::int64_t>(extents));
}

// `label`: the shape of one example's.
void check_label(DType dtype, const Shape& label, const WantedOutput& wanted) {
  const Shape& places = wanted.places;
  if (starts_with(label, places)) {
    const Shape one = after(label, places.rank());
    if (are_classes(dtype, one.with_first(1), wanted.units, {})) {
      if (wanted.loss == Loss::kMeanAbsolutePercentageError)
        bad_data(named("output", wanted.part) + "labels are class numbers, '" +
                 std::string(name_of(wanted.loss)) +
                 "' wants numbers other than 0");
      return;
    }
    if (one.elements() == wanted.units && one.rank() <= 1) return;
  }
  const std::string classes =
      "class numbers" + (places.rank() > 0 ? " " + places.to_string() : "");
  const std::string row = with_last(places, wanted.units).to_string();
  bad_data(named("output", wanted.part) + "labels are " +
           std::string(name_of(dtype)) + " " + label.to_string() +
           ", the network wants " +
           (wanted.units > 1 ? classes + " or " + row : row));
}

// `mask`: the shape of one example's.
void check_steps(const Shape& mask, const WantedInput& wanted) {
  if (wanted.sequence && mask != Shape{wanted.shape[0]})
    bad_data(named("input", wanted.part) + "the features' mask is " +
             mask.to_string() + " an example, the network wants " +
             Shape{wanted.shape[0]}.to_string());
}

// A tensor that is read by number.
void check_tokens(const Tensor& tokens, const WantedInput& wanted) {
  const auto each =
      static_cast<std::size_t>(tokens.elements() / tokens.shape()[0]);
  tensor::visit_dtype(tokens.dtype(), [&]<typename T>() {
    const auto all = tokens.as<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto token = static_cast<double>(all[i]);
      if (token >= 0 && token < static_cast<double>(wanted.tokens) &&
          token == std::floor(token))
        continue;
      std::string text = std::to_string(token);
      if (token == std::floor(token)) text.resize(text.find('.'));
      bad_data(named("input", wanted.part) + "example " +
               std::to_string(i / each) + " has token " + text + " at place " +
               std::to_string(i % each) + ", the network knows 0.." +
               std::to_string(wanted.tokens - 1));
    }
  });
}

// The least that those who read an input of tokens know; 0: none reads it so.
std::int64_t tokens_of(const NetworkConfig& config, std::size_t input) {
  std::int64_t least = 0;
  for (const LayerConfig& layer : config.layers) {
    if (layer.type->tokens == nullptr ||
        std::ranges::count(layer.from, input) == 0)
      continue;
    const std::int64_t known = layer.type->tokens(layer.settings);
    least = least == 0 ? known : std::min(least, known);
  }
  return least;
}

// Class numbers have to be 0..limit-1.
void check_range(const Tensor& labels, std::int64_t limit) {
  const auto each =
      static_cast<std::size_t>(labels.elements() / labels.shape()[0]);
  tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    const auto all = labels.as<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto label = static_cast<std::int64_t>(all[i]);
      if (label < 0 || label >= limit)
        bad_data("example " + std::to_string(i / each) + " has label " +
                 std::to_string(label) + ", the network knows 0.." +
                 std::to_string(limit - 1));
    }
  });
}

}  // namespace

namespace {

// The inputs whose masks are factors of that of a value.
void add_mask_inputs(const NetworkConfig& config, const Layout& layout, Value v,
                     std::vector<std::size_t>& to) {
  const std::size_t inputs = config.inputs.size();
  if (v < inputs) {
    if (layout.form(v).steps && std::ranges::count(to, v) == 0) to.push_back(v);
    return;
  }
  const LayerLayout& layer = layout.layers[v - inputs];
  if (!layer.mask) return;
  if (*layer.mask != v) return add_mask_inputs(config, layout, *layer.mask, to);
  if (!layer.joins_masks) return;  // made anew
  for (const Value from : config.layers[v - inputs].from)
    if (layout.form(from).shape[0] == layer.output.shape[0])
      add_mask_inputs(config, layout, from, to);
}

std::vector<std::size_t> mask_inputs(const NetworkConfig& config,
                                     const Layout& layout, std::size_t i) {
  std::vector<std::size_t> inputs;
  add_mask_inputs(config, layout, config.value_of(config.outputs[i]), inputs);
  return inputs;
}

// The data have an input that is a target as features.
void aim(WantedOutput& output, const NetworkConfig& config,
         std::optional<Value> target, const std::vector<WantedInput>& inputs) {
  output.target = target;
  if (target) output.source = target_source(config, *target);
  if (!output.source) return;
  const WantedInput& input = inputs[output.source->input];
  output.target_tensor = input.tensor;
  if (input.sequence) output.target_mask = input.mask;
}

}  // namespace

Wanted wanted_by(const NetworkConfig& config, const Layout& layout,
                 std::span<const data::Normalizer> normalizers) {
  // The tensors of several are called by their names.
  const auto named = [](const char* kind, const std::string& name, bool one) {
    return one ? std::string(kind) : std::string(kind) + "/" + name;
  };
  Wanted wanted;
  const bool one_input =
      !config.names_inputs.value_or(config.inputs.size() > 1);
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    const std::string& name = config.inputs[i].name;
    wanted.inputs.push_back(
        {one_input ? "" : name, named("features", name, one_input),
         named("features_mask", name, one_input), layout.inputs[i].shape,
         layout.inputs[i].steps, tokens_of(config, i)});
    if (i >= normalizers.size() || !normalizers[i].mixes()) continue;
    WantedInput& input = wanted.inputs.back();
    input.shape = normalizers[i].stored(input.shape);
    input.mixed = true;
  }
  const bool one_output =
      !config.names_outputs.value_or(config.outputs.size() > 1);
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const LayerConfig& layer = config.layers[config.outputs[i]];
    const std::string& name = layer.name;
    const Shape& shape = layout.layers[config.outputs[i]].output.shape;
    OutputSpec output;  // of a part, which takes no labels
    if (layer.type->output != nullptr) output = output_of(config, i);
    wanted.outputs.push_back(
        {one_output ? "" : name, named("labels", name, one_output),
         named("labels_mask", name, one_output), output.units, places_of(shape),
         output.loss.kind, mask_inputs(config, layout, i)});
    aim(wanted.outputs.back(), config, layer.target, wanted.inputs);
  }
  return wanted;
}

bool Wanted::labels() const {
  return std::ranges::any_of(outputs,
                             [](const auto& output) { return !output.target; });
}

Shape places_of(const Shape& output) {
  return Shape(output.extents().first(
      static_cast<std::size_t>(std::max(output.rank() - 1, 0))));
}

bool are_classes(DType dtype, const Shape& shape, std::int64_t units,
                 const Shape& places) {
  return !tensor::is_real(dtype) && units > 1 &&
         shape.rank() <= places.rank() + 2 &&
         shape.elements() == shape[0] * places.elements();
}

bool are_classes(const data::Metadata& data, const NetworkConfig& config,
                 std::size_t i) {
  const WantedOutput output =
      wanted_by(config, layout_of(config)).outputs.at(i);
  const auto labels = data.schema.find(output.tensor);
  if (output.target || labels == data.schema.end()) return false;
  return are_classes(labels->second.dtype, labels->second.shape.with_first(1),
                     output.units, output.places);
}

bool sides_are_classes(const data::Metadata& data, const NetworkConfig& config,
                       std::size_t i) {
  const OutputSpec output = output_of(config, i);
  const std::string part =
      config.outputs.size() == 1 ? "" : config.layers[config.outputs[i]].name;
  return output.units == 1 && data.part(part).classes.size() == 2 &&
         (output.loss.kind == Loss::kHinge ||
          output.loss.kind == Loss::kSquaredHinge);
}

bool says_probabilities(const NetworkConfig& config, std::size_t i) {
  const device::Activation last = output_of(config, i).activation.kind;
  return last == device::Activation::kSoftmax ||
         last == device::Activation::kSigmoid;
}

std::vector<std::string> output_names(const NetworkConfig& config,
                                      const data::Metadata& data,
                                      std::size_t i) {
  const Wanted wanted = wanted_by(config, layout_of(config));
  const WantedOutput& output = wanted.outputs.at(i);
  if (!output.target) {
    const data::Metadata part = data.part(output.part);
    return part.classes.empty() ? part.targets : part.classes;
  }
  if (!output.source) return {};
  const auto [input, first, width, all] = *output.source;
  const auto columns = data.part(wanted.inputs[input].part).columns;
  if (std::cmp_not_equal(columns.size(), all) || width != output.units)
    return {};
  return {columns.begin() + first, columns.begin() + first + width};
}

const Tensor& labels_like(const Tensor& outputs, const Tensor& labels,
                          const WantedOutput& wanted, Tensor& room) {
  if (!wanted.target || labels.shape() == outputs.shape()) return labels;
  if (wanted.source && !wanted.source->whole()) {
    room.resize(DType::kF32, outputs.shape());
    for (std::int64_t i = 0; i < room.elements(); ++i)
      room.as<float>()[static_cast<std::size_t>(i)] =
          static_cast<float>(labels.value(wanted.source->place(i)));
    return room;
  }
  room = labels;
  room.reshape(outputs.shape());
  return room;
}

void check_inputs(std::span<const Part> inputs, const Wanted& wanted) {
  require(inputs.size() == wanted.inputs.size(), "as many parts as inputs");
  std::int64_t n = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [values, mask] = inputs[i];
    const WantedInput& want = wanted.inputs[i];
    const std::string name = named("input", want.part);
    if (values == nullptr || values->empty() || values->shape().rank() == 0)
      bad_data(name + "examples are missing");
    check_example(values->shape().without_first(), want);
    if (i == 0) n = values->shape()[0];
    if (values->shape()[0] != n)
      bad_data(name + "has " + std::to_string(values->shape()[0]) +
               " examples, other inputs " + std::to_string(n));
    if (want.tokens > 0) check_tokens(*values, want);
    if (mask == nullptr || !want.sequence) continue;
    if (mask->shape().rank() == 0 || mask->shape()[0] != n)
      bad_data(name + std::to_string(n) +
               " examples have a features' mask of " +
               mask->shape().to_string());
    check_steps(mask->shape().without_first(), want);
  }
}

namespace {

void check_labels(const Part& part, std::int64_t n, const WantedOutput& want,
                  std::span<const Part> inputs) {
  const std::string name = named("output", want.part);
  if (part.values == nullptr || part.values->empty() ||
      part.values->shape().rank() == 0)
    bad_data(name + "labels are missing");
  const Tensor& labels = *part.values;
  if (labels.shape()[0] != n)
    bad_data(name + std::to_string(n) + " examples have " +
             std::to_string(labels.shape()[0]) + " labels");
  check_label(labels.dtype(), labels.shape().without_first(), want);
  if (part.mask != nullptr && part.mask->elements() != n &&
      (want.places.rank() == 0 ||
       part.mask->shape() != want.places.with_first(n)))
    bad_data(name + std::to_string(n) + " examples have a mask of " +
             part.mask->shape().to_string());
  if (are_classes(labels.dtype(), labels.shape(), want.units, want.places))
    return check_range(labels, want.units);
  if (!tensor::is_real(labels.dtype()) &&
      (want.loss == Loss::kBinaryCrossEntropy ||
       want.loss == Loss::kBinaryFocal))
    check_range(labels, 2);
  check_targets(part, want, inputs);
}

}  // namespace

void check_batch(const Batch& batch, const Wanted& wanted) {
  check_inputs(batch.inputs, wanted);
  require(batch.outputs.size() == wanted.outputs.size(),
          "as many labels as outputs");
  for (std::size_t i = 0; i < batch.outputs.size(); ++i)
    if (!wanted.outputs[i].target)
      check_labels(batch.outputs[i], batch.examples(), wanted.outputs[i],
                   batch.inputs);
}

void fill_batch(const data::DataSet& set, const Wanted& wanted, Batch& batch) {
  batch.inputs.clear();
  batch.outputs.clear();
  for (const WantedInput& input : wanted.inputs)
    batch.inputs.push_back({set.find(input.tensor), set.find(input.mask)});
  for (const WantedOutput& output : wanted.outputs)
    batch.outputs.push_back(
        output.target
            ? Part{set.find(output.target_tensor), set.find(output.target_mask)}
            : Part{set.find(output.tensor), set.find(output.mask)});
}

namespace {

// The data lack a tensor; those of its kind that they have may be meant.
[[noreturn]] void refuse_lack(const std::string& tensor,
                              const data::Metadata& metadata) {
  const std::string kind = tensor.substr(0, tensor.find('/'));
  std::string others;
  for (const auto& [name, field] : metadata.schema)
    if (name == kind || name.starts_with(kind + "/"))
      others += (others.empty() ? ", but '" : ", '") + name + "'";
  bad_data("the data have no tensor '" + displayed(tensor) + "'" + others);
}

}  // namespace

void check_tokens(const data::Metadata& metadata, const Wanted& wanted) {
  for (const WantedInput& want : wanted.inputs) {
    if (want.tokens == 0) continue;
    const auto statistics = metadata.part(want.part).statistics;
    if (!statistics || statistics->max.empty()) continue;
    const double most = std::ranges::max(statistics->max),
                 least = std::ranges::min(statistics->min);
    const std::string rows = "the embedding has " +
                             std::to_string(want.tokens) + " rows, for 0.." +
                             std::to_string(want.tokens - 1);
    if (least < 0)
      bad_data(want.tensor + " have the token " + format("%.15g", least) +
               ", and " + rows + ": number the tokens from 0");
    if (most >= static_cast<double>(want.tokens))
      bad_data(want.tensor + " have tokens up to " + format("%.15g", most) +
               ", and " + rows + R"(: a new network wants "rows": )" +
               format("%.15g", std::floor(most) + 1) +
               ", or data with fewer tokens; a trained model knows no others, "
               "so that data are numbered by its vocabulary");
  }
}

void check_metadata(const data::Metadata& metadata, const Wanted& wanted,
                    bool labels_needed) {
  check_tokens(metadata, wanted);
  for (const WantedInput& want : wanted.inputs) {
    const auto features = metadata.schema.find(want.tensor);
    if (features == metadata.schema.end()) refuse_lack(want.tensor, metadata);
    check_example(features->second.shape, want);
    if (const auto mask = metadata.schema.find(want.mask);
        mask != metadata.schema.end())
      check_steps(mask->second.shape, want);
  }
  for (const WantedOutput& want : wanted.outputs) {
    if (want.target) continue;
    const auto labels = metadata.schema.find(want.tensor);
    if (labels == metadata.schema.end()) {
      if (labels_needed) refuse_lack(want.tensor, metadata);
      continue;
    }
    check_label(labels->second.dtype, labels->second.shape, want);
    const auto classes =
        static_cast<std::int64_t>(metadata.part(want.part).classes.size());
    const std::int64_t known = want.units > 1 ? want.units : 2;
    if (classes > known)
      bad_data(
          "the data have " + std::to_string(classes) + " classes, " +
          (want.units > 1
               ? "the network " + std::to_string(known)
               : "the network's single output tells two; for numbers to be "
                 "predicted, prepare them with --regression"));
  }
}

}  // namespace dl::nn
