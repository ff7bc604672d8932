// Common parts of the importers of Keras layers.

#include "libcore/convert/import/keras/site.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert::keras {

namespace {

// Whether what padding is says nothing of what it gives, but for a mask.
bool skips_padding(const nn::LayerType& type) {
  return type.recurrent || type.name == "hold" || type.name == "global_pool";
}

}  // namespace

Site::Site(Import& import, const LayerSpec& layer, std::string path,
           std::vector<Flow> in, LayerWeights* weights)
    : import_(&import),
      layer_(&layer),
      path_(std::move(path)),
      in_(std::move(in)),
      weights_(weights),
      first_call_(import.owners.emplace(path_ + "/called", "").second) {}

const Flow& Site::only() const {
  if (in_.size() != 1)
    refuse("it takes " + std::to_string(in_.size()) + " inputs, want one");
  return in_[0];
}

std::string Site::name() const {
  return "layer " + in_quotes(layer_->name) + " (" +
         displayed(layer_->class_name) + ")";
}

void Site::refuse(const std::string& what) const {
  throw Error{Code::kData, name() + ": " + what};
}

void Site::note(const std::string& what) const {
  import_->notes->insert("layer " + in_quotes(layer_->name) + ": " + what);
}

std::optional<JsonView> Site::find(Keys keys) const {
  const JsonView config(layer_->config, Code::kData, name());
  read_->insert(keys.begin(), keys.end());
  for (const char* key : keys)
    if (config.has(key) && !config.at(key).raw().is_null())
      return config.at(key);
  return std::nullopt;
}

bool Site::has(Keys keys) const { return find(keys).has_value(); }

JsonView Site::view(Keys keys) const {
  if (const auto found = find(keys)) return *found;
  refuse("its configuration lacks '" + std::string(*keys.begin()) + "'");
}

std::int64_t Site::integer(Keys keys, std::int64_t min,
                           std::int64_t max) const {
  return view(keys).integer(min, max);
}

std::int64_t Site::integer(Keys keys, std::int64_t min, std::int64_t max,
                           std::int64_t fallback) const {
  return has(keys) ? integer(keys, min, max) : fallback;
}

double Site::number(Keys keys, double fallback) const {
  return has(keys) ? view(keys).number() : fallback;
}

bool Site::flag(Keys keys, bool fallback) const {
  return has(keys) ? view(keys).boolean() : fallback;
}

std::string Site::text(Keys keys, const std::string& fallback) const {
  return has(keys) ? view(keys).string() : fallback;
}

std::vector<std::int64_t> Site::integers(Keys keys, std::size_t count,
                                         std::int64_t min,
                                         std::int64_t max) const {
  const JsonView given = view(keys);
  if (!given.raw().is_array())
    return std::vector<std::int64_t>(count, given.integer(min, max));
  std::vector<std::int64_t> all = given.integers(min, max);
  if (all.size() == 1) return std::vector<std::int64_t>(count, all[0]);
  if (all.size() != count) given.fail(std::to_string(count) + " integers");
  return all;
}

std::vector<std::int64_t> Site::integers(
    Keys keys, std::size_t count, std::int64_t min, std::int64_t max,
    const std::vector<std::int64_t>& fallback) const {
  return has(keys) ? integers(keys, count, min, max) : fallback;
}

Flow Site::add(const std::string& part, Json node,
               const std::vector<Flow>& from) {
  Graph& graph = *import_->graph;
  const nn::LayerType& type = nn::layer_type(node["type"].get<std::string>());
  const bool trains = type.trains != nn::Trains::kNothing;
  const std::string wanted = part.empty() ? path_ : path_ + "." + part;
  node["name"] = graph.fresh_name(wanted);
  // Layers that join values work number by number, at each step separately.
  if (each_step_ && from.size() == 1) node["time_distributed"] = true;
  if (trains && !import_->inputs->all_frozen && !flag({"trainable"}, true))
    node["frozen"] = true;
  if (still_ && node["type"] == "batch_norm" && !node.contains("frozen")) {
    node["frozen"] = true;
    note(
        "it is called with training=False: its gamma and beta stay as they "
        "are here");
  }
  std::string shares;
  if (trains) {
    const auto [owner, fresh] =
        import_->owners.emplace(path_ + "/" + part + "/node", node["name"]);
    if (!fresh) shares = owner->second;
  }
  Flow flow;
  try {
    const std::vector<Value> values(from.begin(), from.end());
    static_cast<Value&>(flow) = graph.add(std::move(node), values, shares);
  } catch (const Error& e) {
    refuse(e.what());
  }
  if (part.empty()) main_node_ = flow.node;
  if (from.empty()) return flow;
  flow.moved = from[0].moved;
  flow.masked = flow.form.steps && std::ranges::any_of(from, &Flow::masked);
  // A layer that forgets a mask as Keras does has none by now, without_mask().
  if (!flow.masked && (type.name == "reshape" || type.name == "permute") &&
      std::ranges::any_of(from, &Flow::masked))
    refuse(
        "it looks at several steps of a sequence at once, and keeps its mask; "
        "a sequence without a mask would be needed");
  if (flow.masked) flow.mask = std::ranges::find_if(from, &Flow::masked)->mask;
  if (skips_padding(type)) return flow;
  for (const Flow& one : from)
    if (flow.masked)
      flow.unheld.insert(one.unheld.begin(), one.unheld.end());
    else
      want_held(one);
  return flow;
}

void Site::fill(const std::string& node, const std::string& tensor, Fill fill) {
  if (weighted() && first_call_)
    import_->graph->fill(node, tensor, std::move(fill));
}

std::vector<Array> Site::take(const std::string& below,
                              const std::vector<tensor::Shape>& shapes) {
  std::vector<Array> arrays(shapes.size());
  if (!weighted() || !first_call_) return arrays;
  try {
    arrays = weights_->take(
        below_.empty() || below.empty() ? below_ + below : below_ + "/" + below,
        shapes.size());
  } catch (const Error& e) {
    refuse(e.what());
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (arrays[i].shape != shapes[i])
      refuse("the file has weights " + arrays[i].shape.to_string() +
             " of it where " + shapes[i].to_string() + " is wanted");
  return arrays;
}

bool Site::channels_first(std::size_t axes) const {
  const std::string format = text({"data_format", "dim_ordering"}, "");
  if (format == "channels_first" || format == "th") return true;
  if (format == "channels_last" || format == "tf") return false;
  if (!format.empty() && format != "default")
    refuse("its data_format is " + in_quotes(format));
  if (axes < 2) return false;
  const std::optional<bool> first = dialect().channels_first();
  if (!first)
    refuse(
        "its file does not say where its channels are, and other layers have "
        "theirs first and last; its dim_ordering would be needed");
  return *first;
}

Flow Site::as_keras(const Flow& value, const std::string& part) {
  if (!value.moved) return value;
  const int rank = shape(value).rank();
  std::vector<int> axes = {rank - 1};
  for (int k = 0; k + 1 < rank; ++k) axes.push_back(k);
  Flow flow = add(part, {{"type", "permute"}, {"axes", axes}}, {value});
  flow.moved = false;
  return flow;
}

Flow Site::channels_last(const Flow& value, const std::string& part) {
  if (value.moved) return value;
  if (import_->graph->is_input(value.node) && !each_step_) {
    import_->inputs->moved.insert(value.node);
    throw Again{};
  }
  std::vector<int> axes;
  for (int k = 1; k < shape(value).rank(); ++k) axes.push_back(k);
  axes.push_back(0);
  Flow flow = add(part, {{"type", "permute"}, {"axes", axes}}, {value});
  flow.moved = true;
  return flow;
}

void Site::forget_masks() {
  for (Flow& value : in_) value = without_mask(value);
}

Flow Site::held(const Flow& value) {
  if (!value.masked) return value;
  if (import_->inputs->held.count(value.node) > 0)
    return add("held", {{"type", "hold"}}, {value});
  Flow flow = value;
  flow.unheld.insert(value.node);
  return flow;
}

void Site::leave_padding(Flow& flow, const std::string& what) const {
  if (!flow.masked) return;
  if (import_->inputs->held.count(flow.node) > 0) refuse(what);
  flow.unheld.insert(flow.node);
}

void Site::want_held(const Flow& value) const {
  if (value.unheld.empty()) return;
  import_->inputs->held.insert(value.unheld.begin(), value.unheld.end());
  throw Again{};
}

// One again for what reads any matrix.
Flow Site::without_mask(const Flow& value) {
  if (!value.masked) return value;
  want_held(value);
  return as_one(value);
}

Flow Site::column(const Flow& value) {
  const Sizes own = sizes_of(shape(value));
  return add("column", {{"type", "reshape"}, {"shape", {own[0], 1, own[1]}}},
             {value});
}

Flow Site::series(const Flow& value, const std::string& part) {
  const Sizes own = sizes_of(shape(value));
  return add(part, {{"type", "reshape"}, {"shape", {own[0], own[2]}}}, {value});
}

Flow Site::as_one(const Flow& value) {
  if (!value.form.steps || each_step_) return value;
  Flow flow = add("unmasked", {{"type", "flatten"}}, {value});
  flow = add("steps", {{"type", "reshape"}, {"shape", sizes_of(value.shape())}},
             {flow});
  flow.masked = false;
  return flow;
}

int Site::axis_of(std::int64_t axis, const Flow& value) const {
  const std::int64_t before = all_steps_ ? 1 : 0;
  const std::int64_t rank = shape(value).rank() - before;
  const std::int64_t at = axis < 0 ? axis + rank : axis - 1;
  if (at < 0 || at >= rank)
    refuse("its axis " + std::to_string(axis) +
           " is that of the batch, or none of its input");
  return static_cast<int>(at + before);
}

Flow Site::along(std::int64_t axis, bool channels,
                 const std::function<Flow(const Flow&)>& make) {
  const Flow& value = only();
  const int at = axis_of(axis, value), rank = shape(value).rank();
  if (at == rank - 1) return make(as_keras(value));
  if (at == 0 && (value.moved || (channels && rank > 2)))
    return make(channels_last(value));
  const Flow seen = as_keras(value);
  Sizes there(static_cast<std::size_t>(rank)), back(there);
  std::iota(there.begin(), there.end(), 0);
  std::rotate(there.begin() + at, there.begin() + at + 1, there.end());
  for (std::size_t k = 0; k < there.size(); ++k)
    back[static_cast<std::size_t>(there[k])] = static_cast<std::int64_t>(k);
  const auto moved = [&](const std::string& part, const Sizes& axes,
                         const Flow& from) {
    return add(part, {{"type", "permute"}, {"axes", axes}}, {from});
  };
  return moved("axis_back", back, make(moved("axis_last", there, seen)));
}

}  // namespace dl::convert::keras
