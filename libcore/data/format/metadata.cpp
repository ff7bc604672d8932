// Metadata of a stream as JSON.

#include "libcore/data/format/metadata.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/windows.h"
#include "libcore/data/sharding/contradiction.h"

namespace dl::data {
namespace {

constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int64_t>::max();

void refuse(const std::string& contradiction) {
  if (!contradiction.empty()) bad_data(contradiction);
}

// "id" names an example, "index" is its number in the raw input: they go along
// with the data, and nothing is learnt from them.
bool is_name(const std::string& name) {
  if (names_example(name) || name == kSeriesName) return true;
  const std::string kind = name.substr(0, name.find('/'));
  if (kind.size() + 1 == name.size()) return false;  // "features/"
  return kind == "features" || kind == "labels" || kind == "features_mask" ||
         kind == "labels_mask";
}

// Checks "id" and "index", whose form is fixed in the whole toolkit.
void check_field(const std::string& name, const Field& field) {
  if (static_cast<std::uint64_t>(field.shape.elements()) >
      kMaxRecordBytes / tensor::size_of(field.dtype))
    bad_data("tensor " + in_quotes(name) + " is " + describe(field) +
             " an example, more than the " + std::to_string(kMaxRecordBytes) +
             " bytes of a record");
  const Field index{tensor::DType::kI64, {}};
  if (name == "index" && field != index)
    bad_data("tensor 'index' is " + describe(field) +
             " an example, want I64[]");
  if (field.encoding == Encoding::kJpeg &&
      (field.dtype != tensor::DType::kU8 || field.shape.rank() != 3 ||
       (field.shape[2] != 1 && field.shape[2] != 3)))
    bad_data("tensor " + in_quotes(name) + " is " + describe(field) +
             ", want U8[height, width, 1 or 3]");
  if (field.encoding == Encoding::kRagged &&
      (field.shape.rank() == 0 || names_example(name)))
    bad_data("tensor " + in_quotes(name) + " is " + describe(field) +
             ", want [steps, ...]");
  if ((field.encoding == Encoding::kSeries) != (name == kSeriesName) ||
      (name == kSeriesName &&
       (field.shape.rank() != 2 || !tensor::is_real(field.dtype))))
    bad_data("tensor " + in_quotes(name) + " is " + describe(field) +
             ", want a series: F32 or F64 [rows of a window, columns]");
  if (field.encoding == Encoding::kWindow && names_example(name))
    bad_data("tensor " + in_quotes(name) + " is no window");
  if (name == "id" &&
      (field.dtype != tensor::DType::kU8 || field.shape.rank() != 1))
    bad_data("tensor 'id' is " + describe(field) +
             " an example, want U8[width]");
}

// "1.0" -> 1; what follows the point may be anything a later minor version
// says.
int major_of(const std::string& version) {
  int major = -1;
  const char* end = version.data() + version.size();
  const auto [rest, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || rest == end || *rest != '.' || major < 0)
    bad_data("version '" + clipped(version) + "' is none");
  return major;
}

// Takes `later` over unless it says nothing.
template <typename T>
void take_over(T& now, const T& later) {
  if (!later.empty()) now = later;
}

// None of the whole if a part has none.
std::optional<Statistics> joined(std::optional<Statistics> now,
                                 const std::optional<Statistics>& next) {
  if (!now || !next) return std::nullopt;
  now->join(*next);
  return now;
}

// A data set has "features", or "features/left" and others, but not both.
void check_tensors(const std::map<std::string, Field>& schema) {
  for (const auto& [name, field] : schema) {
    const std::string whole = name.substr(0, name.find('/'));
    if (whole != name && schema.contains(whole))
      bad_data("there is a tensor " + in_quotes(whole) + " and a tensor " +
               in_quotes(name) + ", want one or the other");
  }
}

// Programs of others write them, too.  Columns of one name are as a table has
// them, and only matter where they are matched by name.
void check_names(const About& m, const std::map<std::string, Field>& schema,
                 const std::string& tensor) {
  std::set<std::string> seen;
  for (const std::string& name : m.classes)
    if (!seen.insert(name).second)
      bad_data("two classes are called " + in_quotes(name));
  const auto features = schema.find(tensor);
  if (m.columns.empty() || features == schema.end()) return;
  const tensor::Shape& shape = features->second.shape;
  const std::int64_t width = shape.rank() > 0 ? shape.back() : 1;
  if (std::cmp_not_equal(width, m.columns.size()))
    bad_data("'" + displayed(tensor) + "' has " + std::to_string(width) +
             " columns, but there are " + std::to_string(m.columns.size()) +
             " names of them");
}

void check_names(const Metadata& m) {
  check_names(m, m.schema, "features");
  for (const auto& [name, about] : m.parts)
    check_names(about, m.schema, "features/" + name);
}

void update_about(About& now, const About& later) {
  take_over(now.classes, later.classes);
  take_over(now.columns, later.columns);
  take_over(now.targets, later.targets);
  if (later.statistics) now.statistics = later.statistics;
  if (later.label_statistics) now.label_statistics = later.label_statistics;
}

// Joins the statistics of two descriptions in `now`.
void join_statistics(About& now, const About& before, const About& next) {
  now.statistics = joined(before.statistics, next.statistics);
  now.label_statistics = joined(before.label_statistics, next.label_statistics);
}

const About& about(const std::map<std::string, About>& parts,
                   const std::string& name) {
  static const About kNothing;
  const auto it = parts.find(name);
  return it == parts.end() ? kNothing : it->second;
}

// Adds what is said, by keys that end in `suffix`.
void write_about(const About& m, const std::string& suffix,
                 std::map<std::string, std::string>& text) {
  if (!m.classes.empty()) text["classes" + suffix] = dump_json(m.classes);
  if (!m.columns.empty()) text["columns" + suffix] = dump_json(m.columns);
  if (!m.targets.empty()) text["targets" + suffix] = dump_json(m.targets);
  if (m.statistics)
    text["statistics" + suffix] = dump_json(m.statistics->to_json());
  if (m.label_statistics)
    text["label_statistics" + suffix] =
        dump_json(m.label_statistics->to_json());
}

Json to_json(const SetPlace& place) {
  Json json = {{"id", place.id}, {"shard", place.shard}, {"of", place.of}};
  if (!place.part.empty()) json["part"] = place.part;
  return json;
}

SetPlace place_from_json(const JsonView& json) {
  SetPlace place;
  place.id = json.at("id").string();
  place.of = json.at("of").integer(1, kMaxExtent);
  place.shard = json.at("shard").integer(0, place.of - 1);
  if (json.has("part")) place.part = json.at("part").string();
  return place;
}

}  // namespace

Json schema_to_json(const std::map<std::string, Field>& schema) {
  Json json = Json::object();
  for (const auto& [name, field] : schema) {
    const auto extents = field.shape.extents();
    json[name] = {
        {"dtype", tensor::name_of(field.dtype)},
        {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())}};
    if (field.encoding != Encoding::kNone)
      json[name]["encoding"] = name_of(field.encoding);
    if (field.encoding != Encoding::kWindow) continue;
    json[name]["first"] = field.window.first;
    json[name]["columns"] = field.window.columns;
  }
  return json;
}

std::map<std::string, Field> schema_from_json(const JsonView& json) {
  if (!json.raw().is_object()) json.fail("an object");
  std::map<std::string, Field> schema;
  for (const auto& item : json.raw().items()) {
    const JsonView field = json.at(item.key());
    if (!is_name(item.key()))
      field.fail("features, labels, their masks, id or index");
    const std::vector<std::int64_t> shape =
        field.at("shape").integers(1, kMaxExtent);
    schema[item.key()] = {tensor::dtype_named(field.at("dtype").string()),
                          tensor::Shape(std::span(shape))};
    if (field.has("encoding"))
      schema[item.key()].encoding =
          encoding_named(field.at("encoding").string());
    if (schema[item.key()].encoding == Encoding::kWindow)
      schema[item.key()].window = {field.at("first").integer(0, kMaxExtent),
                                   field.at("columns").integers(0, kMaxExtent)};
    check_field(item.key(), schema[item.key()]);
  }
  check_windows(schema);
  return schema;
}

Json to_json(const std::vector<Provenance>& steps) {
  Json json = Json::array();
  for (const Provenance& step : steps) {
    Json item = {{"tool", step.tool},
                 {"version", step.version},
                 {"arguments", step.arguments}};
    if (step.seed) item["seed"] = *step.seed;
    if (!step.inputs.empty()) item["inputs"] = step.inputs;
    if (!step.instructions.empty()) item["instructions"] = step.instructions;
    json.push_back(item);
  }
  return json;
}

std::vector<Provenance> provenance_from_json(const JsonView& json) {
  std::vector<Provenance> steps;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonView item = json.at(i);
    Provenance step{item.at("tool").string(), item.at("version").string(),
                    item.at("arguments").strings(), std::nullopt};
    if (item.has("seed")) {
      const JsonView seed = item.at("seed");
      if (!seed.raw().is_number_unsigned()) seed.fail("a seed");
      step.seed = seed.raw().get<std::uint64_t>();
    }
    if (item.has("inputs")) step.inputs = item.at("inputs").string();
    if (item.has("instructions"))
      step.instructions = item.at("instructions").strings();
    steps.push_back(std::move(step));
  }
  return steps;
}

std::map<std::string, Field> Metadata::schema_of(const DataSet& set) {
  std::map<std::string, Field> schema;
  for (const auto& [name, t] : set.tensors) {
    if (!is_name(name))
      bad_data("tensor " + in_quotes(name) + " is none of a DataSet");
    schema[name] = {t.dtype(), t.shape().without_first()};
    check_field(name, schema[name]);
  }
  return schema;
}

int Metadata::minor_version() const {
  if (schema.contains(kSeriesName)) return 3;
  return has_encoded(schema) ? 2 : 1;
}

Metadata Metadata::decoded() const {
  Metadata plain = *this;
  plain.schema = plain_schema(schema);
  return plain;
}

bool About::empty() const {
  return classes.empty() && columns.empty() && targets.empty() && !statistics &&
         !label_statistics;
}

std::set<std::string> Metadata::names() const {
  std::set<std::string> all;
  for (const auto& [tensor, field] : schema)
    if (const auto slash = tensor.find('/'); slash != std::string::npos)
      all.insert(tensor.substr(slash + 1));
  return all;
}

Metadata Metadata::part(const std::string& name) const {
  Metadata own;
  if (name.empty())
    static_cast<About&>(own) = *this;
  else
    static_cast<About&>(own) = about(parts, name);
  for (const auto& [tensor, field] : schema) {
    const auto slash = std::min(tensor.find('/'), tensor.size());
    const std::string of = tensor.substr(std::min(slash + 1, tensor.size()));
    if (of == name && !names_example(tensor))
      own.schema[tensor.substr(0, slash)] = field;
  }
  return own;
}

void Metadata::update(const Metadata& later) {
  refuse(contradiction(*this, later, {"later metadata", "the one before it"}));
  check_tensors(later.schema);
  take_over(schema, later.schema);
  update_about(*this, later);
  for (const auto& [name, said] : later.parts) update_about(parts[name], said);
  if (!later.provenance.empty()) provenance = later.provenance;
  if (later.place) place = later.place;
  if (!later.recipe.is_null()) recipe = later.recipe;
  check_names(*this);
}

void Metadata::join(const Metadata& next) {
  join(next, {"a later stream", "an earlier one"});
}

void Metadata::join(const Metadata& next, const Sides& names) {
  refuse(contradiction(*this, next, names));
  const Metadata before = *this;
  const bool same_shard = place == next.place;
  std::vector<Provenance> steps = provenance;
  for (const Provenance& step : next.provenance)
    if (std::find(steps.begin(), steps.end(), step) == steps.end())
      steps.push_back(step);
  update(next);
  join_statistics(*this, before, next);
  for (auto& [name, said] : parts)
    join_statistics(said, about(before.parts, name), about(next.parts, name));
  provenance = std::move(steps);
  if (!same_shard) place.reset();
}

std::map<std::string, std::string> Metadata::to_strings() const {
  std::map<std::string, std::string> text;
  text["format"] = "dl-dataset";
  text["version"] =
      std::to_string(kMajorVersion) + "." + std::to_string(minor_version());
  text["schema"] = dump_json(schema_to_json(schema));
  write_about(*this, "", text);
  for (const auto& [name, said] : parts) write_about(said, "/" + name, text);
  if (place) text["set"] = dump_json(to_json(*place));
  if (!provenance.empty()) text["provenance"] = dump_json(to_json(provenance));
  if (!recipe.is_null()) text["recipe"] = dump_json(recipe);
  return text;
}

Metadata Metadata::from_strings(
    const std::map<std::string, std::string>& text) {
  const auto find = [&](const std::string& key) {
    const auto it = text.find(key);
    return it == text.end() ? nullptr : &it->second;
  };
  const std::string* format = find("format");
  const std::string* version = find("version");
  if (!format || !version || *format != "dl-dataset")
    bad_data("no metadata of a DataSet stream");
  if (major_of(*version) > kMajorVersion)
    bad_data("format version " + clipped(*version) +
             "; this program reads up to version " +
             std::to_string(kMajorVersion));
  Metadata m;
  const auto parse = [&](const std::string& key, auto&& take) {
    const std::string* value = find(key);
    if (!value) return;
    const std::string name = "metadata '" + displayed(key) + "'";
    const Json json = parse_json(*value, name, Code::kData);
    take(JsonView(json, Code::kData, name));
  };
  parse("schema", [&](const JsonView& j) { m.schema = schema_from_json(j); });
  const auto parse_about = [&](About& said, const std::string& suffix) {
    parse("classes" + suffix,
          [&](const JsonView& j) { said.classes = j.strings(); });
    parse("columns" + suffix,
          [&](const JsonView& j) { said.columns = j.strings(); });
    parse("targets" + suffix,
          [&](const JsonView& j) { said.targets = j.strings(); });
    parse("statistics" + suffix, [&](const JsonView& j) {
      said.statistics = Statistics::from_json(j);
    });
    parse("label_statistics" + suffix, [&](const JsonView& j) {
      said.label_statistics = Statistics::from_json(j);
    });
  };
  parse_about(m, "");
  for (const std::string& name : m.names()) {
    About said;
    parse_about(said, "/" + name);
    if (!said.empty()) m.parts[name] = std::move(said);
  }
  parse("set", [&](const JsonView& j) { m.place = place_from_json(j); });
  parse("provenance",
        [&](const JsonView& j) { m.provenance = provenance_from_json(j); });
  parse("recipe", [&](const JsonView& j) { m.recipe = j.raw(); });
  return m;
}

}  // namespace dl::data
