// Export of a model as an ONNX graph, layer by layer.

#include "libcore/convert/export/onnx/onnx.h"

#include <algorithm>
#include <deque>

#include "libcore/base/error.h"
#include "libcore/convert/export/input_mask.h"
#include "libcore/convert/export/layer_name.h"
#include "libcore/convert/export/onnx/layer.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/data/target_source.h"
#include "libcore/nn/data/targets.h"
#include "libcore/nn/layout.h"

namespace dl::convert {
namespace {

const OnnxRule* rule_of(std::string_view type) {
  for (const auto rules : {onnx_dense(), onnx_convolution(), onnx_pool(),
                           onnx_norm(), onnx_recurrent(), onnx_attention(),
                           onnx_combine(), onnx_shape(), onnx_sequence()})
    for (const OnnxRule& rule : rules)
      if (rule.type == type) return &rule;
  return nullptr;
}

class OnnxWriter {
 public:
  OnnxWriter(const nn::Model& model, const OnnxOptions& options)
      : model_(model),
        options_(options),
        config_(model.config),
        layout_(nn::layout_of(model.config)),
        normalizers_(model.normalizers) {
    nn::aim_normalizers(config_, normalizers_);
  }

  std::string write() {
    for (std::size_t i = 0; i < config_.inputs.size(); ++i) add_input(i);
    for (std::size_t i = 0; i < config_.layers.size(); ++i) add_layer(i);
    for (std::size_t i = 0; i < config_.outputs.size(); ++i) add_output(i);
    add_names("", model_.data);
    for (const auto& [name, about] : model_.data.parts)
      add_names("/" + name, about);
    if (!model_.data.recipe.is_null())
      graph_.metadata("recipe", dump_json(model_.data.recipe));
    return graph_.finish(options_.version);
  }

 private:
  void add_input(std::size_t i);
  std::string normalized(std::size_t i, std::string x,
                         const tensor::Shape& stored);
  std::string columns(const Reals& all, const tensor::Shape& shape);
  void add_layer(std::size_t i);
  std::string mask_of(std::size_t i, const std::string& made);
  std::string channels_behind(nn::Value v);
  void add_output(std::size_t i);
  void add_target(const nn::LayerConfig& layer, const std::string& name);
  void add_names(const std::string& of, const data::About& about);
  void add_kind(const char* key, const data::Normalizer& normalizer,
                const std::string& name, bool several);
  std::string input_name(std::size_t i) const {
    const std::string& name = config_.inputs[i].name;
    return name.empty() ? "features" : name;
  }

  const nn::Model& model_;
  const OnnxOptions& options_;
  const nn::NetworkConfig& config_;
  nn::Layout layout_;
  data::Normalizers normalizers_;  // also of outputs that are to be an input
  OnnxGraph graph_;
  std::deque<OnnxValue> values_;  // as nn::Value counts them
};

void OnnxWriter::add_input(std::size_t i) {
  const nn::ValueSpec& form = layout_.inputs[i];
  const data::Normalizer normalizer = normalizers_.input(i);
  const std::string name = input_name(i);
  const tensor::Shape stored =
      normalizer.mixes() ? normalizer.stored(form.shape) : form.shape;
  OnnxValue value;
  value.stored = graph_.input(
      name, form.tokens ? OnnxType::kInt64 : OnnxType::kFloat, stored);
  if (has_mask(model_, layout_, i, options_.masks))
    value.mask = graph_.input(name + "_mask", OnnxType::kFloat,
                              tensor::Shape{form.shape[0]});
  graph_.set_scope(name);
  if (!form.tokens)
    add_kind("normalizer", normalizer, name, config_.inputs.size() > 1);
  value.last = form.tokens ? value.stored : normalized(i, value.stored, stored);
  // Columns made anew of all of them have no value of the data.
  if (normalizer.mixes()) value.stored.clear();
  values_.push_back(value);
}

// Numbers by column for [batch, ...shape].  The columns are those of the data
// as they were gathered, which may have been flat rows where the network has
// images, and images where it has rows.
std::string OnnxWriter::columns(const Reals& all, const tensor::Shape& shape) {
  const auto count = static_cast<std::int64_t>(all.size());
  if (count == 1 || count == shape.back()) return graph_.reals(all, {count});
  require(count > 0 && shape.elements() % count == 0,
          "a normalizer of other columns than the network's");
  Reals repeated(static_cast<std::size_t>(shape.elements()));
  for (std::size_t k = 0; k < repeated.size(); ++k)
    repeated[k] = all[k % all.size()];
  const auto extents = shape.extents();
  return graph_.reals(repeated, {extents.begin(), extents.end()});
}

// (x - shift) * scale, and sums of columns.
std::string OnnxWriter::normalized(std::size_t i, std::string x,
                                   const tensor::Shape& stored) {
  const data::Normalizer n = normalizers_.input(i);
  const auto differs = [](const std::vector<double>& all, double from) {
    return std::ranges::any_of(all, [&](double v) { return v != from; });
  };
  if (differs(n.shift, 0))
    x = graph_.node("Sub", {x, columns(n.shift, stored)});
  if (differs(n.scale, 1))
    x = graph_.node("Mul", {x, columns(n.scale, stored)});
  if (!n.mixes()) return x;
  const auto inputs = static_cast<std::size_t>(n.columns()),
             outputs = static_cast<std::size_t>(n.outputs());
  Reals turned(n.matrix.size());
  for (std::size_t to = 0; to < outputs; ++to)
    for (std::size_t from = 0; from < inputs; ++from)
      turned[from * outputs + to] = n.matrix[to * inputs + from];
  return graph_.node("MatMul",
                     {x, graph_.reals(turned, {n.columns(), n.outputs()})});
}

// Mask of the layer's output.
std::string OnnxWriter::mask_of(std::size_t i, const std::string& made) {
  const nn::LayerLayout& layer = layout_.layers[i];
  if (!layer.mask) return {};
  if (*layer.mask != config_.value_of(i)) return values_[*layer.mask].mask;
  if (!layer.joins_masks) return made;
  std::string product;
  std::vector<std::string> all;
  for (const nn::Value v : config_.layers[i].from) {
    const std::string& mask = values_[v].mask;
    if (mask.empty() || !layout_.form(v).steps ||
        layout_.form(v).shape[0] != layer.output.shape[0] ||
        std::ranges::count(all, mask) > 0)
      continue;
    all.push_back(mask);
    product = product.empty() ? mask : graph_.node("Mul", {product, mask});
  }
  return product;
}

std::string OnnxWriter::channels_behind(nn::Value v) {
  OnnxValue& value = values_[v];
  if (value.last.empty())
    value.last = graph_.transpose(value.first,
                                  channels_last(layout_.form(v).shape.rank()));
  return value.last;
}

void OnnxWriter::add_layer(std::size_t i) {
  const nn::LayerConfig& config = config_.layers[i];
  const nn::LayerLayout& layout = layout_.layers[i];
  graph_.set_scope(config.name);
  std::vector<OnnxValue*> x;
  x.reserve(config.from.size());
  for (const nn::Value v : config.from) x.push_back(&values_[v]);
  if (config.type->disturbs) {
    OnnxValue same = *x[0];
    same.stored.clear();
    same.mask = mask_of(i, {});
    values_.push_back(same);
    return;
  }
  OnnxValue step;
  if (layout.each_of > 0) {  // steps are examples of their own
    step.last = graph_.reshape(channels_behind(config.from[0]),
                               batch_of(layout.inputs[0].shape, -1));
    x = {&step};
  }
  OnnxLayer layer(graph_, model_, layout_, i, x);
  const OnnxRule* rule = rule_of(config.type->name);
  if (rule == nullptr) layer.refuse("ONNX has no such layer");
  rule->write(layer);
  OnnxValue value = layer.given();
  if (layout.each_of > 0)
    value = {.last = graph_.reshape(layer.given_last(),
                                    batch_of(layout.output.shape, -1)),
             .first = {},
             .mask = {},
             .stored = {}};
  value.mask = mask_of(i, value.mask);
  values_.push_back(value);
}

// The mean of its copies, in the units of the labels.
void OnnxWriter::add_output(std::size_t i) {
  const std::size_t own = config_.outputs[i];
  const nn::ValueSpec& form = layout_.layers[own].output;
  const nn::LayerConfig& layer = config_.layers[own];
  const std::string name =
      config_.is_graph() || !is_numbered(layer.name, layer.type->name)
          ? layer.name
          : "predictions";
  graph_.set_scope(config_.layers[own].name);
  std::string y = channels_behind(config_.value_of(own));
  if (form.copies > 1) {
    Ints apart = batch_of(form.shape, -1);
    apart.insert(apart.begin(), form.copies);
    y = graph_.reduce("ReduceMean", graph_.reshape(y, apart), {0}, false);
  }
  const data::Normalizer n = normalizers_.output(i);
  add_kind("target_normalizer", n, name, config_.outputs.size() > 1);
  add_target(layer, name);
  if (!n.changes_nothing()) {
    Reals back;
    back.reserve(n.scale.size());
    for (const double scale : n.scale) back.push_back(1 / scale);
    y = graph_.node("Add", {graph_.node("Mul", {y, columns(back, form.shape)}),
                            columns(n.shift, form.shape)});
  }
  graph_.output(name, y, form.shape);
}

// An input that the output is to be, for training that goes on.
void OnnxWriter::add_target(const nn::LayerConfig& layer,
                            const std::string& name) {
  if (!layer.target) return;
  const auto source = nn::target_source(config_, *layer.target);
  if (!source || !source->whole()) return;
  graph_.metadata(
      config_.outputs.size() > 1 ? "target/" + name : std::string("target"),
      input_name(source->input));
}

// By which dl-import tells their nodes from those of layers.
void OnnxWriter::add_kind(const char* key, const data::Normalizer& normalizer,
                          const std::string& name, bool several) {
  if (!normalizer.changes_nothing())
    graph_.metadata(several ? key + ("/" + name) : std::string(key),
                    normalizer.kind);
}

void OnnxWriter::add_names(const std::string& of, const data::About& about) {
  const auto add = [&](const char* key, const std::vector<std::string>& names) {
    if (!names.empty()) graph_.metadata(key + of, dump_json(Json(names)));
  };
  add("classes", about.classes);
  add("columns", about.columns);
  add("targets", about.targets);
}

}  // namespace

std::string to_onnx(const nn::Model& model, const OnnxOptions& options) {
  return OnnxWriter(model, options).write();
}

}  // namespace dl::convert
