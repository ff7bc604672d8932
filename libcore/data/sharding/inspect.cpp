// The work of dl-shard --verify, --info and --head.

#include "libcore/data/sharding/inspect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "libcore/base/display.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/label_mask.h"
#include "libcore/data/rows.h"
#include "libcore/data/sharding/contradiction.h"
#include "libcore/data/sharding/set_check.h"

namespace dl::data {
namespace {

constexpr std::int64_t kMaxShown = 1 << 24;  // values of a tensor, as JSON

bool is_class(const tensor::Tensor& labels) {
  return labels.shape().rank() == 1 && !tensor::is_real(labels.dtype());
}

// Whether labels are class numbers, one of each step of a sequence.
bool are_of_steps(const Metadata& metadata) {
  const auto labels = metadata.schema.find("labels");
  if (labels == metadata.schema.end() || labels->second.shape.rank() != 1 ||
      tensor::is_real(labels->second.dtype))
    return false;
  const auto masked = [&](const char* mask) {
    const auto found = metadata.schema.find(mask);
    return found != metadata.schema.end() &&
           found->second.shape == labels->second.shape;
  };
  return !metadata.classes.empty() || masked("features_mask") ||
         masked("labels_mask");
}

// The decimal that a float is written as, not the digits of its double.
double as_written(float value) {
  char text[32] = {};
  std::to_chars(text, text + sizeof text - 1, value);
  return std::strtod(text, nullptr);
}

// Elements [*at, ...) of the tensor as nested arrays of `shape`.
Json nested(const tensor::Tensor& t, std::span<const std::int64_t> shape,
            std::int64_t& at) {
  if (!shape.empty()) {
    Json list = Json::array();
    for (std::int64_t i = 0; i < shape[0]; ++i)
      list.push_back(nested(t, shape.subspan(1), at));
    return list;
  }
  return tensor::visit_dtype(t.dtype(), [&]<typename T>() -> Json {
    const T value = t.as<T>()[static_cast<std::size_t>(at++)];
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) return nullptr;
    if constexpr (std::is_same_v<T, float>) return as_written(value);
    return value;
  });
}

using Counts = std::map<std::int64_t, std::int64_t>;

// "classes", or of tensors with a name "classes/digit".
std::string of_part(const char* what, const std::string& part) {
  return part.empty() ? what : std::string(what) + "/" + part;
}

void count_classes(const DataSet& set, const std::string& part,
                   Counts& counts) {
  const tensor::Tensor* labels = set.find(of_part("labels", part));
  if (!labels || tensor::is_real(labels->dtype()) || labels->shape().rank() > 3)
    return;
  tensor::Tensor product;
  const tensor::Tensor* mask = nullptr;
  if (labels->shape().rank() == 2)
    mask = label_mask(set, product, of_part("", part));
  const std::int64_t marks = mask ? mask->elements() : 0;
  if (mask && labels->elements() % marks != 0) return;
  tensor::visit_dtype(labels->dtype(), [&]<typename T>() {
    const auto values = labels->as<T>();
    for (std::int64_t i = 0; i < labels->elements(); ++i)
      if (!mask || mask->value(i * marks / labels->elements()) != 0)
        ++counts[static_cast<std::int64_t>(
            values[static_cast<std::size_t>(i)])];
  });
}

// Whether labels are classes of the pixels of images.
bool are_of_pixels(const Metadata& metadata) {
  const auto labels = metadata.schema.find("labels");
  return labels != metadata.schema.end() && !metadata.classes.empty() &&
         labels->second.shape.rank() == 2 &&
         !tensor::is_real(labels->second.dtype);
}

Json classes_to_json(const Metadata& metadata, Counts counts) {
  Json list = Json::array();
  const bool steps = are_of_steps(metadata), pixels = are_of_pixels(metadata);
  const auto labels = metadata.schema.find("labels");
  if (labels == metadata.schema.end() ||
      (labels->second.shape.rank() > 0 && !steps && !pixels))
    counts.clear();
  const char* what = steps ? "steps" : pixels ? "pixels" : "examples";
  const auto named = static_cast<std::int64_t>(metadata.classes.size());
  for (std::int64_t i = 0; i < named; ++i) {
    const auto it = counts.find(i);
    list.push_back({{"label", i},
                    {"name", metadata.classes[static_cast<std::size_t>(i)]},
                    {what, it == counts.end() ? 0 : it->second}});
  }
  if (named == 0)
    for (const auto& [label, n] : counts)
      list.push_back({{"label", label}, {what, n}});
  return list;
}

// The names of the tensors, and "" for those without.
std::set<std::string> parts_of(const Metadata& metadata) {
  auto names = metadata.names();
  names.insert("");
  return names;
}

Json metadata_to_json(const Metadata& metadata) {
  Json json = Json::object();
  for (const auto& [key, text] : metadata.to_strings())
    if (key == "format" || key == "version")
      json[key] = text;
    else
      json[key] = parse_json(text, key, Code::kBug);
  return json;
}

}  // namespace

Verdict verify(const std::string& spec) {
  Verdict verdict;
  verdict.name = spec;
  try {
    StreamReader in(io::open_source(spec));
    for (DataSet set; in.read(set);) {
      verdict.records = in.records();
      verdict.examples = in.examples();
    }
    in.close();
  } catch (const Error& e) {
    verdict.error = e.what();
    verdict.code = e.code();
  }
  return verdict;
}

Json describe(const std::vector<std::string>& specs) {
  std::optional<Metadata> all;
  std::string first;                     // input
  std::map<std::string, Counts> counts;  // by the name of the labels
  Json inputs = Json::array(), missing = Json::array();
  for (const MissingShard& shard : check_sets(specs))
    missing.push_back(shard.path);
  std::int64_t examples = 0, records = 0;
  std::uint64_t bytes = 0;
  for (const std::string& spec : specs) {
    StreamReader in(io::open_source(spec), Form::kStored);
    for (DataSet set; in.read(set);)
      for (const std::string& part : parts_of(in.metadata()))
        count_classes(set, part, counts[part]);
    in.close();
    if (all)
      all->join(in.metadata(), {in.name(), first});
    else
      all = in.metadata();
    if (first.empty()) first = in.name();
    inputs.push_back({{"name", spec},
                      {"examples", in.examples()},
                      {"records", in.records()},
                      {"bytes", in.bytes()}});
    examples += in.examples();
    records += in.records();
    bytes += in.bytes();
  }
  require(all.has_value(), "nothing to describe");
  Json json = metadata_to_json(*all);
  json["classes"] = Json::array();
  for (const auto& [part, found] : counts) {
    Json classes = classes_to_json(all->part(part), found);
    if (part.empty() || !classes.empty())
      json[of_part("classes", part)] = std::move(classes);
  }
  json["inputs"] = std::move(inputs);
  if (!missing.empty()) json["missing"] = std::move(missing);
  json["examples"] = examples;
  json["records"] = records;
  json["bytes"] = bytes;
  json["unpacked_bytes"] =
      static_cast<std::uint64_t>(examples) * row_bytes(all->schema);
  return json;
}

Json example_to_json(const DataSet& set, std::int64_t i,
                     const Metadata& metadata) {
  Json json = Json::object();
  for (const auto& [name, t] : set.tensors) {
    if (name == "id") {
      json[name] = id_text(t, i);
      continue;
    }
    const tensor::Shape shape = t.shape().without_first();
    if (shape.elements() > kMaxShown)
      throw Error{Code::kData, "'" + displayed(name) + "' of an example has " +
                                   std::to_string(shape.elements()) +
                                   " values, too many for JSON"};
    std::int64_t at = i * shape.elements();
    json[name] = nested(t, shape.extents(), at);
  }
  for (const std::string& part : parts_of(metadata)) {
    const std::string tensor = of_part("labels", part);
    const tensor::Tensor* labels = set.find(tensor);
    if (!labels || !is_class(*labels)) continue;
    const auto label = json[tensor].get<std::int64_t>();
    const std::vector<std::string> classes = metadata.part(part).classes;
    if (label >= 0 && label < static_cast<std::int64_t>(classes.size()))
      json[of_part("class", part)] = classes[static_cast<std::size_t>(label)];
  }
  return json;
}

void head(const std::vector<std::string>& specs, std::int64_t count,
          const std::function<void(const DataSet&, const Metadata&)>& take) {
  for (const std::string& spec : specs) {
    if (count <= 0) return;
    StreamReader in(io::open_source(spec), Form::kStored);
    for (DataSet set; count > 0 && in.read(set);) {
      const std::int64_t n = std::min(count, set.examples());
      if (n < set.examples())
        take(set.slice(0, n), in.metadata());
      else
        take(set, in.metadata());
      count -= n;
    }
    in.close();
  }
}

}  // namespace dl::data
