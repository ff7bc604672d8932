// Parsing of a DL4J configuration of any version.

#include "libcore/convert/import/dl4j/conf.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/legacy.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kMostInteger = std::int64_t{1} << 62;
constexpr std::size_t kMostVertices = 10'000;
constexpr const char* kText = "'configuration.json'";

[[noreturn]] void damaged(const std::string& what) {
  throw Error{Code::kData, std::string(kText) + ": " + what};
}

std::int64_t integer_in(const Json& json, const char* key,
                        std::int64_t fallback) {
  const Json& value = member(json, key);
  return value.is_number_integer() ? JsonView(value, Code::kData, key)
                                         .integer(-kMostInteger, kMostInteger)
                                   : fallback;
}

std::vector<std::string> texts_in(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_array()) return {};
  return JsonView(value, Code::kData, std::string(kText) + ": " + key)
      .strings();
}

// Reads settings of training that both kinds of models have; conf: of one
// layer, or of all.
void read_training(const Json& json, const Json& conf, Conf& to) {
  to.iteration = std::max<std::int64_t>(
      0, integer_in(json, "iterationCount",
                    integer_in(conf, "iterationCount", 0)));
  to.epoch = std::max<std::int64_t>(
      0, integer_in(json, "epochCount", integer_in(conf, "epochCount", 0)));
  to.seed = integer_in(conf, "seed", 0);
  to.mean_gradient = member(conf, "miniBatch") != Json(false);
  to.truncated = member(json, "backpropType") == Json("TruncatedBPTT");
  to.forward_steps = integer_in(json, "tbpttFwdLength", 20);
  to.backward_steps = integer_in(json, "tbpttBackLength", 20);
  to.minimizes = member(conf, "minimize") != Json(false);
  const Json& algorithm = member(conf, "optimizationAlgo");
  if (algorithm.is_string()) to.algorithm = algorithm.get<std::string>();
}

void put_layer(const Json& conf, Vertex& vertex, Conf& all) {
  if (!member(conf, "layer").is_object())
    damaged("the layer " + in_quotes(vertex.name) + " has no 'layer'");
  const Json layer = unwrapped(conf["layer"]);
  if (member(layer, "updater").is_string() &&
      member(layer, "iupdater").is_null())
    all.state_by_parameter = true;
  vertex.layer = modern_layer(layer, conf);
  vertex.variables = texts_in(conf, "variables");
}

Conf read_chain(const Json& json) {
  Conf conf{.chain = true, .inputs = {"input"}};
  const Json& confs = json["confs"];
  if (!confs.is_array() || confs.empty()) damaged("it has no layers");
  read_training(json, confs[0], conf);
  std::string before = "input";
  std::set<std::string> names{before};
  for (std::size_t i = 0; i < confs.size(); ++i) {
    Vertex vertex{.json = {{"@class", "LayerVertex"}}, .inputs = {before}};
    vertex.name = "layer" + std::to_string(i);
    vertex.place = i;
    put_layer(confs[i], vertex, conf);
    const Json& name = member(vertex.layer, "layerName");
    if (name.is_string() && !name.get<std::string>().empty() &&
        names.count(name.get<std::string>()) == 0)
      vertex.name = name.get<std::string>();
    if (!names.insert(vertex.name).second)
      vertex.name += "_" + std::to_string(i);
    vertex.preprocessor = unwrapped(
        member(member(json, "inputPreProcessors"), std::to_string(i).c_str()));
    before = vertex.name;
    conf.vertices.push_back(std::move(vertex));
  }
  conf.outputs = {before};
  return conf;
}

// Rising integers in the order in which a HashSet of Java goes through them: by
// their rest in a table of 16, which is doubled when it is three quarters full.
void order_as_java(std::vector<std::size_t>& set) {
  std::size_t table = 16;
  while (set.size() * 4 > table * 3) table *= 2;
  std::ranges::stable_sort(
      set, {}, [table](std::size_t number) { return number % table; });
}

// Where the file does not say it: the order in which DL4J finds vertices whose
// inputs are there, vertices being numbered as the file has them.
std::vector<std::string> topological_order(
    const std::vector<std::string>& inputs,
    const std::vector<std::string>& names, const Json& vertex_inputs) {
  std::vector<std::string> all = inputs;
  all.insert(all.end(), names.begin(), names.end());
  std::map<std::string, std::size_t> waits;
  std::map<std::string, std::vector<std::size_t>> readers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto from = texts_in(vertex_inputs, all[i].c_str());
    const std::set<std::string> different(from.begin(), from.end());
    waits[all[i]] = different.size();
    for (const std::string& input : different) readers[input].push_back(i);
  }
  for (auto& [name, set] : readers) order_as_java(set);
  std::vector<std::string> order;
  for (const std::string& name : all)
    if (waits[name] == 0) order.push_back(name);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string done = order[i];
    for (const std::size_t reader : readers[done])
      if (--waits[all[reader]] == 0) order.push_back(all[reader]);
  }
  if (order.size() != all.size())
    damaged("a vertex depends on itself, or on one that there is not");
  return order;
}

// The vertices as the text has them: the toolkit's objects are sorted.
std::vector<std::string> names_in_order(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text);
  std::vector<std::string> names;
  for (const auto& [name, vertex] : json.at("vertices").items())
    names.push_back(name);
  return names;
}

Conf read_graph(const Json& json, std::string_view text) {
  Conf conf{.inputs = texts_in(json, "networkInputs"),
            .outputs = texts_in(json, "networkOutputs")};
  if (conf.inputs.empty() || conf.outputs.empty())
    damaged("it has no inputs, or no outputs");
  read_training(json, member(json, "defaultConfiguration"), conf);
  const Json& vertices = json["vertices"];
  const Json& from = member(json, "vertexInputs");
  std::vector<std::string> order = texts_in(json, "topologicalOrderStr");
  const std::vector<std::string> names = names_in_order(text);
  if (order.empty()) order = topological_order(conf.inputs, names, from);
  for (const std::string& name : order) {
    if (!vertices.contains(name)) {
      if (std::ranges::find(conf.inputs, name) == conf.inputs.end())
        damaged("there is no vertex " + in_quotes(name));
      continue;
    }
    Vertex vertex{.name = name,
                  .json = unwrapped(vertices[name]),
                  .inputs = texts_in(from, name.c_str())};
    vertex.place = static_cast<std::size_t>(std::ranges::find(names, name) -
                                            names.begin());
    if (class_of(vertex.json, "vertex") == "layer") {
      put_layer(member(vertex.json, "layerConf"), vertex, conf);
      vertex.preprocessor = unwrapped(member(vertex.json, "preProcessor"));
    }
    if (conf.find(name) != nullptr)
      damaged("two vertices are called " + in_quotes(name));
    conf.vertices.push_back(std::move(vertex));
  }
  if (conf.vertices.size() != names.size())
    damaged("its topologicalOrderStr is not of all its vertices");
  return conf;
}

}  // namespace

const Vertex* Conf::find(const std::string& name) const {
  const auto found = std::ranges::find(vertices, name, &Vertex::name);
  return found == vertices.end() ? nullptr : &*found;
}

bool is_conf(const Json& json) {
  return json.is_object() &&
         (json.contains("confs") ||
          (json.contains("vertices") && json.contains("networkInputs")));
}

Conf read_conf(std::string_view text) {
  const Json json = parse_json(text, kText, Code::kData);
  if (!is_conf(json))
    damaged("it is the configuration of no network of Deeplearning4j");
  const Json& layers = json[json.contains("confs") ? "confs" : "vertices"];
  if (layers.size() > kMostVertices)
    damaged("it has more than " + std::to_string(kMostVertices) + " layers");
  return json.contains("confs") ? read_chain(json) : read_graph(json, text);
}

std::string shown_class(const Json& json) {
  const Json& name = member(json, "@class");
  const Json& type = member(json, "type");  // of distributions
  if (!name.is_string() && !type.is_string()) return "";
  const std::string full = (name.is_string() ? name : type).get<std::string>();
  const auto at = full.find_last_of(".$");
  return at == std::string::npos ? full : full.substr(at + 1);
}

std::string class_of(const Json& json, std::string_view suffix) {
  std::string plain;
  for (const char c : shown_class(json))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!suffix.empty() && plain.size() > suffix.size() &&
      plain.ends_with(suffix))
    plain.resize(plain.size() - suffix.size());
  return plain;
}

std::string class_behind(std::string_view prefix, const Json& json) {
  std::string name = class_of(json);
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name;
}

std::optional<bool> channels_last_in(const Json& json) {
  for (const char* key : {"isNCDHW", "ncdhw"})
    if (member(json, key).is_boolean()) return !json[key].get<bool>();
  // Layers of 1 and 3 dimensions have the key of 2 dimensions as well.
  for (const char* key : {"rnnDataFormat", "dataFormat", "format",
                          "cnn2dDataFormat", "cnn2DFormat"}) {
    const Json& format = member(json, key);
    if (!format.is_string()) continue;
    if (!format.get<std::string>().starts_with("NC")) return true;
    // It says so of anything.
    if (class_of(json) == "batchnormalization") continue;
    return false;
  }
  return std::nullopt;
}

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

double number_in(const Json& object, const char* key, double fallback) {
  const Json& value = member(object, key);
  if (!value.is_number()) return fallback;
  const double number = value.get<double>();
  return std::isfinite(number) ? number : fallback;
}

}  // namespace dl::convert::dl4j
