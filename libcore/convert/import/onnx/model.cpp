// Building of the model's nodes from the reader's result.

#include "libcore/convert/import/onnx/model.h"

#include <algorithm>
#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/numbers.h"

namespace dl::convert::onnx {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::int64_t kAnyLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kAnyHigh = std::numeric_limits<std::int64_t>::max();

JsonView view(const Node& node, const char* key) {
  return JsonView(node.attributes, Code::kData, node.called()).at(key);
}

using Opsets = std::map<std::string, std::int64_t>;

std::shared_ptr<const Body> body_of(const JsonView& json, const Opsets& opsets,
                                    Node& loop);

Node node_of(const JsonView& json, const Opsets& opsets) {
  Node node{.name = json.at("name").string(),
            .op = json.at("op").string(),
            .domain = json.at("domain").string(),
            .in = json.at("in").strings(),
            .out = json.at("out").strings(),
            .attributes = json.at("attributes").raw(),
            .body = nullptr};
  if (node.domain == "ai.onnx") node.domain.clear();
  const auto opset = opsets.find(node.domain);
  node.opset = opset == opsets.end() ? 1 : opset->second;
  if (json.has("body")) node.body = body_of(json.at("body"), opsets, node);
  return node;
}

std::shared_ptr<const Body> body_of(const JsonView& json, const Opsets& opsets,
                                    Node& loop) {
  Body body{.inputs = json.at("inputs").strings(),
            .outputs = json.at("outputs").strings(),
            .nodes = {}};
  if (body.inputs.size() < 2 || body.outputs.size() + 1 < body.inputs.size() ||
      loop.in.size() != body.inputs.size())
    bad_data(loop.called() + ": its body is not one of a loop");
  const JsonView nodes = json.at("nodes");
  std::set<std::string> own(body.inputs.begin(), body.inputs.end());
  std::vector<std::string> around;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    body.nodes.push_back(node_of(nodes.at(i), opsets));
    const Node& node = body.nodes.back();
    own.insert(node.out.begin(), node.out.end());
    around.insert(around.end(), node.in.begin(), node.in.end());
  }
  for (const std::string& name : around)
    if (!name.empty() && own.insert(name).second) loop.in.push_back(name);
  return std::make_shared<const Body>(std::move(body));
}

InputInfo input_of(const JsonView& json) {
  InputInfo input{.name = json.at("name").string(),
                  .type = static_cast<int>(json.at("type").integer(0, 1000)),
                  .dims = {},
                  .names = {}};
  const JsonView dims = json.at("dims");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Json& dim = dims.at(i).raw();
    // Older writers have 0 or -1 for one that is open.
    const bool open = !dim.is_number_integer() ||
                      dim.get<std::int64_t>() == 0 ||
                      dim.get<std::int64_t>() == -1;
    input.dims.push_back(open ? -1
                              : dims.at(i).integer(kAnyLow, kMostElements));
    input.names.push_back(dim.is_string() ? dim.get<std::string>() : "");
  }
  return input;
}

// A file beside the model's, by a plain name: no path leads anywhere else.
std::string path_beside(const std::string& spec, const std::string& name) {
  namespace fs = std::filesystem;
  if (spec.empty() || name.empty() || name == ".." || name == "." ||
      name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    bad_data("its weights lie in " + in_quotes(name) +
             ", which is no file beside it: save it as one file");
  std::error_code none;
  const fs::path path = fs::path(spec).parent_path() / name;
  if (!fs::is_regular_file(fs::symlink_status(path, none)))
    bad_data("its weights lie in the file " + in_quotes(name) +
             " beside it, which is not there: put it there, or save the model "
             "as one file");
  return path.string();
}

class Outside {
 public:
  Outside(Model& model, const std::string& spec) : model_(model), spec_(spec) {}

  void add(const std::string& name, const JsonView& json) {
    const std::string file = json.at("file").string();
    if (files_.count(file) == 0) {
      model_.beside.push_back(path_beside(spec_, file));
      files_[file] = io::map_file(model_.beside.back());
      model_.files.push_back(files_[file]);
    }
    const auto all =
        files_[file] ? files_[file]->bytes() : std::span<const std::byte>();
    const int type = static_cast<int>(json.at("type").integer(0, 1000));
    const Sizes dims = json.at("dims").integers(0, kMostElements);
    double count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<double>(extent);
    const double bytes = count * static_cast<double>(size_of(type));
    const auto offset = json.at("offset").integer(0, kAnyHigh);
    const bool fits = bytes <= static_cast<double>(all.size()) &&
                      static_cast<std::size_t>(offset) <=
                          all.size() - static_cast<std::size_t>(bytes);
    if (!fits ||
        (json.has("length") && json.at("length").integer(0, kAnyHigh) !=
                                   static_cast<std::int64_t>(bytes)))
      bad_data("its tensor " + in_quotes(name) + " is not in the file " +
               in_quotes(file) + ", which is cut or of another model");
    const auto own = all.subspan(static_cast<std::size_t>(offset),
                                 static_cast<std::size_t>(bytes));
    if (!is_real(type))
      model_.constants[name] = Constant::of_wholes(dims, wholes_in(type, own));
    else if (type == static_cast<int>(ElementType::kFloat) && offset % 4 == 0)
      model_.constants[name] =
          Constant::in_place(dims, {reinterpret_cast<const float*>(own.data()),
                                    own.size() / sizeof(float)});
    else
      model_.constants[name] = Constant::of_reals(dims, reals_in(type, own));
  }

 private:
  Model& model_;
  const std::string& spec_;
  std::map<std::string, std::shared_ptr<const io::Mapping>> files_;
};

void add_constants(Model& model, const Archive& archive, const JsonView& graph,
                   const std::string& spec) {
  for (const auto& [name, array] : archive.arrays) {
    const auto extents = array.shape.extents();
    model.constants[name] =
        Constant::in_place({extents.begin(), extents.end()}, array.values);
  }
  if (graph.has("texts"))
    for (const auto& [name, texts] : graph.at("texts").raw().items())
      model.texts[name] = JsonView(texts, Code::kData, name).strings();
  if (graph.has("wholes"))
    for (const auto& [name, json] : graph.at("wholes").raw().items()) {
      const JsonView tensor(json, Code::kData, name);
      model.constants[name] =
          Constant::of_wholes(tensor.at("dims").integers(0, kMostElements),
                              tensor.at("values").integers(kAnyLow, kAnyHigh));
    }
  if (!graph.has("outside")) return;
  Outside outside(model, spec);
  for (const auto& [name, json] : graph.at("outside").raw().items())
    outside.add(name, JsonView(json, Code::kData, name));
}

// Each value comes from one place: which of several would be meant?
void want_single_makers(const Model& model) {
  std::map<std::string, const Node*> makers;
  for (const Node& node : model.nodes)
    for (const std::string& out : node.out) {
      if (out.empty()) continue;
      if (!makers.emplace(out, &node).second)
        bad_data(makers[out]->called() + " and " + node.called() +
                 " both give the value " + in_quotes(out));
      if (model.constants.count(out) > 0 ||
          std::ranges::count(model.inputs, out, &InputInfo::name) > 0)
        bad_data(node.called() + " gives the value " + in_quotes(out) +
                 ", which is a tensor or an input of the model");
    }
}

std::int64_t numbers_of(const Model& model) {
  std::int64_t count = 0;
  for (const auto& [name, constant] : model.constants)
    count += constant.elements();
  return count;
}

}  // namespace

std::int64_t Node::integer(const char* key, std::int64_t fallback) const {
  return has(key) ? view(*this, key).integer(kAnyLow, kAnyHigh) : fallback;
}

double Node::number(const char* key, double fallback) const {
  return has(key) ? view(*this, key).number() : fallback;
}

std::string Node::text(const char* key, const std::string& fallback) const {
  return has(key) ? view(*this, key).string() : fallback;
}

Sizes Node::integers(const char* key, const Sizes& fallback) const {
  return has(key) ? view(*this, key).integers(kAnyLow, kAnyHigh) : fallback;
}

std::vector<double> Node::numbers(const char* key) const {
  return has(key) ? view(*this, key).numbers() : std::vector<double>();
}

std::vector<std::string> Node::texts(const char* key) const {
  return has(key) ? view(*this, key).strings() : std::vector<std::string>();
}

std::string Node::called() const {
  const bool own = domain.empty() || domain == kOwnDomain;
  const std::string kind = (own ? "" : domain + ".") + op;
  const std::string which = !name.empty() || out.empty() ? name : out[0];
  return "node " + in_quotes(which) + " (" + displayed(kind) + ")";
}

const std::string& Node::input(std::size_t i) const {
  static const std::string none;
  return i < in.size() ? in[i] : none;
}

const Constant* repeated_value(const std::map<std::string, Constant>& constants,
                               const Node& node) {
  if (node.op != "ConstantOfShape" || !node.has("value")) return nullptr;
  const JsonView value = view(node, "value");
  const auto found = value.has("tensor")
                         ? constants.find(value.at("tensor").string())
                         : constants.end();
  if (found == constants.end())
    bad_data(node.called() + ": its value is no number that is known");
  return &found->second;
}

std::optional<std::vector<const Constant*>> constant_inputs(
    const std::map<std::string, Constant>& constants, const Node& node) {
  if (node.in.empty()) return std::nullopt;
  std::vector<const Constant*> in;
  for (const std::string& name : node.in) {
    const auto found = constants.find(name);
    if (!name.empty() && found == constants.end()) return std::nullopt;
    in.push_back(name.empty() ? nullptr : &found->second);
  }
  if (const Constant* value = repeated_value(constants, node))
    in.push_back(value);
  return in;
}

std::vector<const Node*> needed(const Model& model) {
  std::set<std::string> wanted(model.outputs.begin(), model.outputs.end());
  std::vector<const Node*> nodes;
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    const bool used = std::ranges::any_of(node->out, [&](const auto& out) {
      return !out.empty() && wanted.count(out) > 0 &&
             model.constants.count(out) == 0;
    });
    if (!used) continue;
    nodes.push_back(&*node);
    wanted.insert(node->in.begin(), node->in.end());
  }
  std::ranges::reverse(nodes);
  return nodes;
}

std::int64_t most_numbers(const Model& model) {
  return kMostFolded + 64 * model.numbers;
}

Model model_of(const Archive& archive, const std::string& spec) {
  const std::string* text = archive.text("graph");
  require(text != nullptr, "an ONNX file without its graph");
  const Json json = parse_json(*text, "its graph", Code::kData);
  const JsonView graph(json, Code::kData, "its graph");
  Model model;
  model.producer = graph.at("producer").string();
  if (graph.has("metadata"))
    for (const auto& [key, value] : graph.at("metadata").raw().items())
      model.metadata[key] = value.get<std::string>();
  std::map<std::string, std::int64_t> opsets;
  if (graph.has("opset"))
    for (const auto& [domain, version] : graph.at("opset").raw().items())
      opsets[domain == "ai.onnx" ? "" : domain] = version.get<std::int64_t>();
  const JsonView inputs = graph.at("inputs"), nodes = graph.at("nodes");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    model.inputs.push_back(input_of(inputs.at(i)));
  model.outputs = graph.at("outputs").strings();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    model.nodes.push_back(node_of(nodes.at(i), opsets));
  add_constants(model, archive, graph, spec);
  model.numbers = numbers_of(model);
  want_single_makers(model);
  return model;
}

}  // namespace dl::convert::onnx
