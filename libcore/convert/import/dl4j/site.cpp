// Common parts of the importers of DL4J layers.

#include "libcore/convert/import/dl4j/site.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::convert::dl4j {

using tensor::Shape;

const Flow& Site::only() const {
  if (in_.size() != 1)
    refuse("it takes " + std::to_string(in_.size()) + " inputs, want one");
  return in_[0];
}

void Site::refuse(const std::string& what) const {
  const bool layer = !vertex_->layer.is_null();
  throw Error{Code::kData, std::string(layer ? "layer " : "vertex ") +
                               in_quotes(vertex_->name) + " (" +
                               displayed(shown_class(*json_)) + "): " + what};
}

void Site::note(const std::string& what) const {
  import_->notes->insert("layer " + in_quotes(vertex_->name) + ": " + what);
}

std::int64_t Site::integer(const char* key, std::int64_t min,
                           std::int64_t max) const {
  if (!has(key)) refuse("its configuration lacks '" + std::string(key) + "'");
  return integer(key, min, max, min);
}

std::int64_t Site::integer(const char* key, std::int64_t min, std::int64_t max,
                           std::int64_t fallback) const {
  if (!has(key)) return fallback;
  try {
    return JsonView(member(*json_, key), Code::kData, key).integer(min, max);
  } catch (const Error& e) {
    refuse(e.what());
  }
}

bool Site::flag(const char* key, bool fallback) const {
  const Json& value = member(*json_, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

std::string Site::text(const char* key, const std::string& fallback) const {
  const Json& value = member(*json_, key);
  return value.is_string() ? value.get<std::string>() : fallback;
}

std::vector<std::int64_t> Site::integers(
    const char* key, std::size_t count, std::int64_t min, std::int64_t max,
    const std::vector<std::int64_t>& fallback) const {
  if (!has(key)) return fallback;
  const Json& given = member(*json_, key);
  if (!given.is_array())
    return std::vector<std::int64_t>(count, integer(key, min, max));
  try {
    auto all = JsonView(given, Code::kData, key).integers(min, max);
    if (all.size() == 1) return std::vector<std::int64_t>(count, all[0]);
    if (all.size() >= count) {
      all.resize(count);
      return all;
    }
  } catch (const Error& e) {
    refuse(e.what());
  }
  refuse("its '" + std::string(key) + "' is not " + std::to_string(count) +
         " integers");
}

Flow Site::add(const std::string& part, Json node,
               const std::vector<Flow>& from) {
  Graph& graph = *import_->graph;
  const std::string type = node["type"];
  std::string name = vertex_->name;
  for (const std::string& below : {prefix_, part})
    if (!below.empty()) name += "." + below;
  node["name"] = graph.fresh_name(name);
  add_training(*this, type, node);
  if (!from.empty() && from[0].each) node["time_distributed"] = true;
  Flow flow;
  try {
    const std::vector<Value> values(from.begin(), from.end());
    static_cast<Value&>(flow) = graph.add(std::move(node), values);
  } catch (const Error& e) {
    refuse(e.what());
  }
  if (part.empty()) main_node_ = flow.node;
  if (from.empty()) return flow;
  flow.each = from[0].each;
  flow.last = from[0].last;
  // Layers that change no position of a number.
  if (shape(flow).rank() == 1 && shape(flow) == shape(from[0]) &&
      nn::layer_type(type).trains == nn::Trains::kNothing)
    flow.image = from[0].image;
  return flow;
}

std::size_t Site::take(const std::string& name, std::int64_t count, Kind kind) {
  auto& all = import_->variables;
  Variable variable{.name = vertex_->name + "_" + name,
                    .count = static_cast<std::size_t>(count)};
  if (!all.empty()) variable.offset = all.back().offset + all.back().count;
  const bool bias = kind == Kind::kBias || kind == Kind::kPretrainingBias;
  if (!frozen_ && kind != Kind::kStatistic) {
    const bool own = bias && has("biasUpdater");
    variable.updater = member(*json_, own ? "biasUpdater" : "iupdater");
  }
  if (kind == Kind::kPretraining || kind == Kind::kPretrainingBias)
    variable.block = vertex_->name;
  if (import_->conf->state_by_parameter) {
    variable.block = variable.name;
    variable.place = vertex_->place;
  }
  all.push_back(std::move(variable));
  return all.size() - 1;
}

void Site::fill(const std::string& node, const std::string& tensor,
                std::size_t variable, Map map) {
  import_->sources[node + "/" + tensor] = {variable, std::move(map)};
}

void Site::fill_with(const std::string& tensor, float value) {
  fill(tensor, kNoVariable,
       [value](std::span<const float>, std::span<float> to) {
         std::ranges::fill(to, value);
       });
}

namespace {

std::vector<std::int64_t> extents_of(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

}  // namespace

Flow Site::in_order(const Flow& value, const std::string& part) {
  if (value.image.rank() == 0) return value;
  Flow flow = value;
  flow.image = {};
  flow.last = false;
  flow = add(part + ".image",
             {{"type", "reshape"}, {"shape", extents_of(value.image)}}, {flow});
  flow = channels_first(flow, part);
  return add(part + ".flat", {{"type", "flatten"}}, {flow});
}

Flow Site::channels_first(const Flow& value, const std::string& part) {
  const int rank = shape(value).rank();
  if (rank < 2) return in_order(value, part);
  if (value.last) return value;
  std::vector<int> axes = {rank - 1};
  for (int k = 0; k + 1 < rank; ++k) axes.push_back(k);
  return add(part, {{"type", "permute"}, {"axes", axes}}, {value});
}

Flow Site::channels_last(const Flow& value, const std::string& part) {
  const int rank = shape(value).rank();
  if (rank < 2) return value;
  std::vector<int> axes;
  for (int k = 1; k < rank; ++k) axes.push_back(k);
  axes.push_back(0);
  return add(part, {{"type", "permute"}, {"axes", axes}}, {value});
}

Flow Site::vector(const Flow& value, const std::string& part) {
  const Shape own = shape(value);
  if (own.rank() == 1) return value;
  Flow flow = add(part, {{"type", "flatten"}}, {value});
  if (!value.last && (own.rank() > 2 || own.back() > 1)) flow.image = own;
  return flow;
}

}  // namespace dl::convert::dl4j
