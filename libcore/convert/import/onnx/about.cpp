// Recognition of normalizers and names in models that dl-export wrote.

#include "libcore/convert/import/onnx/about.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/nn/data/targets.h"

namespace dl::convert::onnx {
namespace {

// A number for each column; one is for all.
std::vector<double> numbers_of(const Constant& constant) {
  std::vector<double> all;
  for (const float one : constant.reals()) all.push_back(one);
  return all;
}

// The kind that the metadata say, "" if none; several: whether of several
// inputs or outputs.
std::string kind_of(const Model& graph, const char* key,
                    const std::string& name, bool several) {
  const auto found =
      graph.metadata.find(several ? key + ("/" + name) : std::string(key));
  constexpr std::string_view kKinds[] = {"scale", "standardize", "minmax",
                                         "pca", "whiten"};
  return found != graph.metadata.end() &&
                 std::ranges::find(kKinds, found->second) != std::end(kKinds)
             ? found->second
             : std::string();
}

bool mixes(const std::string& kind) {
  return kind == "pca" || kind == "whiten";
}

void want_finite(const data::Normalizer& n, const std::string& of) {
  for (const auto* all : {&n.shift, &n.scale, &n.matrix})
    if (!std::ranges::all_of(*all, [](double v) { return std::isfinite(v); }))
      throw Error{Code::kData, "the normalizer of " + in_quotes(of) +
                                   " has a number that is not finite"};
}

// Both by column, or both one for all.
bool level(data::Normalizer& n) {
  const std::size_t columns = std::max(n.shift.size(), n.scale.size());
  for (auto* all : {&n.shift, &n.scale})
    if (all->size() == 1) all->resize(columns, all->front());
  return columns > 0 && n.shift.size() == n.scale.size();
}

class Taker {
 public:
  explicit Taker(Model& graph) : graph_(graph) {}

  data::Normalizer at_input(InputInfo& input, const std::string& kind);
  data::Normalizer at_output(const std::string& output,
                             const std::string& kind);

 private:
  const Node* reader(const std::string& value, const std::string& name) const;
  Node* maker(const std::string& value, const char* op);
  const Constant* factor(const Node* node) const;

  Model& graph_;
};

// The node of that name, if it alone reads the value.
const Node* Taker::reader(const std::string& value,
                          const std::string& name) const {
  const Node* found = nullptr;
  for (const Node& node : graph_.nodes)
    for (const std::string& in : node.in) {
      if (in != value) continue;
      if (found != nullptr || node.name != name) return nullptr;
      found = &node;
    }
  return std::ranges::count(graph_.outputs, value) > 0 ? nullptr : found;
}

Node* Taker::maker(const std::string& value, const char* op) {
  for (Node& node : graph_.nodes)
    if (node.op == op && node.domain.empty() && node.out.size() == 1 &&
        node.out[0] == value && !node.in.empty())
      return &node;
  return nullptr;
}

// The node's operand besides the value.
const Constant* Taker::factor(const Node* node) const {
  if (node == nullptr || node->in.size() != 2 || node->out.size() != 1)
    return nullptr;
  const auto found = graph_.constants.find(node->in[1]);
  return found == graph_.constants.end() ||
                 found->second.elements() > data::kMaxMatrix
             ? nullptr
             : &found->second;
}

data::Normalizer Taker::at_input(InputInfo& input, const std::string& kind) {
  data::Normalizer n{.kind = kind};
  std::string value = input.name;
  const auto follow = [&](const char* op) {
    const Node* node = reader(value, input.name + "/" + op);
    const Constant* found =
        node != nullptr && node->op == op ? factor(node) : nullptr;
    if (found != nullptr) value = node->out[0];
    return found;
  };
  if (const Constant* shift = follow("Sub")) n.shift = numbers_of(*shift);
  if (const Constant* scale = follow("Mul")) n.scale = numbers_of(*scale);
  if (!level(n)) return {};
  if (mixes(kind)) {
    const Constant* matrix = follow("MatMul");
    if (matrix == nullptr || matrix->shape().size() != 2 ||
        input.dims.empty() || matrix->shape()[0] != input.dims.back())
      return {};
    const auto columns = static_cast<std::size_t>(matrix->shape()[0]),
               outputs = static_cast<std::size_t>(matrix->shape()[1]);
    for (auto* all : {&n.shift, &n.scale})
      if (all->size() == 1) all->resize(columns, all->front());
    if (n.shift.size() != columns || outputs == 0) return {};
    for (std::size_t to = 0; to < outputs; ++to)
      for (std::size_t from = 0; from < columns; ++from)
        n.matrix.push_back(matrix->at(from * outputs + to));
    input.dims.back() = matrix->shape()[1];
  }
  if (value == input.name) return {};
  want_finite(n, input.name);
  for (Node& node : graph_.nodes)
    std::ranges::replace(node.in, value, input.name);
  return n;
}

// Identity(Add(Mul(y, 1 / scale), shift))
data::Normalizer Taker::at_output(const std::string& output,
                                  const std::string& kind) {
  Node* const last = maker(output, "Identity");
  const Node* const add = last ? maker(last->in[0], "Add") : nullptr;
  const Node* const mul = add ? maker(add->in[0], "Mul") : nullptr;
  const Constant *const shift = factor(add), *const back = factor(mul);
  if (shift == nullptr || back == nullptr) return {};
  data::Normalizer n{.kind = kind, .shift = numbers_of(*shift), .scale = {}};
  for (const double one : numbers_of(*back)) {
    if (one == 0) return {};
    n.scale.push_back(1 / one);
  }
  if (!level(n)) return {};
  want_finite(n, output);
  last->in[0] = mul->in[0];
  return n;
}

// To the rounding of float32, by column; those of flat rows go round.
bool alike(const data::Normalizer& a, const data::Normalizer& b) {
  const auto near = [](const std::vector<double>& x,
                       const std::vector<double>& y) {
    for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
      const double p = x[i % x.size()], q = y[i % y.size()];
      if (!(std::abs(p - q) <= 1e-6 * std::max(std::abs(p), std::abs(q))))
        return false;
    }
    return true;
  };
  return near(a.shift, b.shift) && near(a.scale, b.scale);
}

// A list of different names, or none.
std::vector<std::string> names_at(const Model& graph, const std::string& key) {
  const auto found = graph.metadata.find(key);
  if (found == graph.metadata.end()) return {};
  const Json json = Json::parse(found->second, nullptr, false);
  if (!json.is_array()) return {};
  std::vector<std::string> all;
  for (const Json& one : json) {
    if (!one.is_string() || one.get<std::string>().empty()) return {};
    all.push_back(one.get<std::string>());
  }
  const std::set<std::string> different(all.begin(), all.end());
  return different.size() == all.size() ? all : std::vector<std::string>();
}

data::About about_of(const Model& graph, const std::string& of) {
  data::About about;
  about.classes = names_at(graph, "classes" + of);
  about.columns = names_at(graph, "columns" + of);
  about.targets = names_at(graph, "targets" + of);
  return about;
}

using Notes = std::vector<std::string>;

void keep_fitting(std::vector<std::string>& names, const char* what,
                  std::int64_t count, Notes& notes) {
  if (names.empty() || static_cast<std::int64_t>(names.size()) == count) return;
  notes.push_back("its metadata name " + std::to_string(names.size()) + " " +
                  what + ", and the model has " + std::to_string(count) +
                  ": the names are left out");
  names.clear();
}

void keep_fitting(data::About& about, std::int64_t units, Notes& notes) {
  // One number tells two classes apart.
  keep_fitting(about.classes, "classes", std::max<std::int64_t>(units, 2),
               notes);
  keep_fitting(about.targets, "targets", units, notes);
}

// Columns of the data, which a normalizer may change.
std::int64_t columns_of(const nn::Model& model, std::size_t input) {
  const data::Normalizer& n = model.normalizers.input(input);
  return n.mixes() ? n.columns() : model.config.inputs[input].shape.back();
}

// How raw data become examples, dl-recipe(5), which is checked where it is
// used; null: the metadata do not say it.
Json recipe_of_metadata(const Model& graph) {
  const auto found = graph.metadata.find("recipe");
  if (found == graph.metadata.end() || !graph.producer.starts_with("dl-tools"))
    return nullptr;
  const Json json = Json::parse(found->second, nullptr, false);
  return json.is_object() ? json : Json();
}

}  // namespace

NamedNormalizers take_normalizers(Model& graph) {
  NamedNormalizers all;
  Taker taker(graph);
  for (InputInfo& input : graph.inputs)
    if (const std::string kind =
            kind_of(graph, "normalizer", input.name, graph.inputs.size() > 1);
        !kind.empty())
      all.inputs[input.name] = taker.at_input(input, kind);
  for (const std::string& output : graph.outputs)
    if (const std::string kind = kind_of(graph, "target_normalizer", output,
                                         graph.outputs.size() > 1);
        !kind.empty() && !mixes(kind))
      all.outputs[output] = taker.at_output(output, kind);
  return all;
}

std::map<std::string, std::string> targets_of(const Model& graph) {
  std::map<std::string, std::string> all;
  for (const std::string& output : graph.outputs) {
    const auto found = graph.metadata.find(
        graph.outputs.size() > 1 ? "target/" + output : std::string("target"));
    if (found != graph.metadata.end() &&
        std::ranges::find(graph.inputs, found->second, &InputInfo::name) !=
            graph.inputs.end())
      all[output] = found->second;
  }
  return all;
}

bool follow_targets(nn::Model& model) {
  data::Normalizers aimed = model.normalizers;
  nn::aim_normalizers(model.config, aimed);
  for (std::size_t i = 0; i < model.config.outputs.size(); ++i) {
    if (!model.config.layers[model.config.outputs[i]].target) continue;
    data::Normalizer& own = model.normalizers.outputs[i];
    if (!alike(own, aimed.output(i))) return false;
    own = {};
  }
  return true;
}

std::string why_masked(const Model& graph) {
  if (!graph.producer.starts_with("dl-tools")) return {};
  for (const InputInfo& input : graph.inputs) {
    constexpr std::string_view kEnd = "_mask";
    const std::string of =
        input.name.ends_with(kEnd)
            ? input.name.substr(0, input.name.size() - kEnd.size())
            : std::string();
    if (std::ranges::find(graph.inputs, of, &InputInfo::name) !=
        graph.inputs.end())
      return "its input " + in_quotes(input.name) +
             " says which steps are padding, which does not come back from "
             "ONNX: dl-export --masks never writes the model without it";
  }
  for (const Node& node : graph.nodes)
    if (node.op == "Equal" && node.name.ends_with("/Equal"))
      return "its layer " +
             in_quotes(node.name.substr(0, node.name.rfind('/'))) +
             " finds steps that are padding, which does not come back from "
             "ONNX; from a .keras file of dl-export it does";
  return {};
}

void take_names(const Model& graph, nn::Model& model, Notes& notes) {
  const nn::NetworkConfig& config = model.config;
  if (config.outputs.size() == 1) {
    static_cast<data::About&>(model.data) = about_of(graph, "");
    keep_fitting(model.data, nn::output_of(config).units, notes);
    keep_fitting(model.data.columns, "columns", columns_of(model, 0), notes);
  }
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    const std::string& name = config.inputs[i].name;
    auto columns = names_at(graph, "columns/" + name);
    keep_fitting(columns, "columns", columns_of(model, i), notes);
    if (!columns.empty() && config.inputs.size() > 1)
      model.data.parts[name].columns = std::move(columns);
  }
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const std::string& name = config.layers[config.outputs[i]].name;
    data::About about = about_of(graph, "/" + name);
    if (config.outputs.size() < 2) continue;
    keep_fitting(about, nn::output_of(config, i).units, notes);
    if (about.empty()) continue;
    model.data.parts[name].classes = std::move(about.classes);
    model.data.parts[name].targets = std::move(about.targets);
  }
  model.data.recipe = recipe_of_metadata(graph);
}

}  // namespace dl::convert::onnx
