// The JSON Schema of network configurations, generated from the table of keys.

#include <cmath>

#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_table.h"

namespace dl::nn {
namespace {

Json reference(std::string_view object) {
  return {{"$ref", "#/$defs/" + std::string(object)}};
}

// Range ends as integers where they are, so that the schema reads well.
Json figure(double x) {
  if (x == std::floor(x) && std::abs(x) < 9e15)
    return static_cast<std::int64_t>(x);
  if (x >= 9223372036854775807.0) return INT64_MAX;
  return x;
}

Json ranged(const char* type, std::string_view range) {
  Json schema{{"type", type}};
  const Interval i = interval_of(range);
  if (std::isfinite(i.low))
    schema[i.low_open ? "exclusiveMinimum" : "minimum"] = figure(i.low);
  if (std::isfinite(i.high))
    schema[i.high_open ? "exclusiveMaximum" : "maximum"] = figure(i.high);
  return schema;
}

// Tags of an object that need nothing beside them.
Json plain_tags(std::string_view object) {
  Json tags = Json::array();
  for (const std::string_view tag : tag_of(object)->values) {
    bool plain = true;
    for (const Key* key : keys_of(object, tag))
      if (key->required() && key->kind != Kind::kTag) plain = false;
    if (plain) tags.push_back(tag);
  }
  return tags;
}

Json value_schema(const Key& key) {
  switch (key.kind) {
    case Kind::kTag:
    case Kind::kOneOf:
      return {{"enum", key.values}};
    case Kind::kInteger:
      return ranged("integer", key.range);
    case Kind::kNumber:
      return ranged("number", key.range);
    case Kind::kBoolean:
      return {{"type", "boolean"}};
    case Kind::kName:
      return {{"type", "string"},
              {"pattern", "^[A-Za-z0-9_.-]+$"},
              {"maxLength", 200}};
    case Kind::kNames: {
      const Json name{{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]+$"}};
      return {{"anyOf",
               {name, {{"type", "array"}, {"items", name}, {"minItems", 1}}}}};
    }
    case Kind::kShape:
      return {{"type", "array"},
              {"items", ranged("integer", key.range)},
              {"minItems", 1},
              {"maxItems", 7}};
    case Kind::kTuple:
      return {{"type", "array"},
              {"items", ranged("integer", key.range)},
              {"minItems", key.places()},
              {"maxItems", key.places()}};
    case Kind::kPair:
      return {{"type", "array"},
              {"items", ranged("number", key.range)},
              {"minItems", 2},
              {"maxItems", 2}};
    case Kind::kNumbers:
      return {{"type", "array"},
              {"items", ranged("number", key.range)},
              {"minItems", 1}};
    case Kind::kObject:
      return reference(key.of);
    case Kind::kObjects:
      return {{"type", "array"}, {"items", reference(key.of)}, {"minItems", 1}};
    case Kind::kNumberOrObject:
      return {{"anyOf", {ranged("number", key.range), reference(key.of)}}};
    case Kind::kMap:
      return {{"type", "object"},
              {"patternProperties",
               {{"^(0|[1-9][0-9]*)$", ranged("number", key.range)}}},
              {"additionalProperties", false},
              {"required", {"0"}}};
    case Kind::kTagOrObject:
      return {
          {"anyOf", {Json{{"enum", plain_tags(key.of)}}, reference(key.of)}}};
    case Kind::kClassWeights: {
      const Json one = ranged("number", key.range);
      return {{"anyOf",
               {Json{{"type", "array"}, {"items", one}, {"minItems", 1}},
                Json{{"type", "object"},
                     {"additionalProperties", one},
                     {"minProperties", 1}},
                Json{{"const", "balanced"}}}}};
    }
  }
  return {};
}

// One kind of an object.
Json object_schema(std::string_view object, std::string_view tag) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Key* key : keys_of(object, tag)) {
    const std::string name(key->name);
    Json schema =
        key->kind == Kind::kTag ? Json{{"const", tag}} : value_schema(*key);
    schema["description"] = key->doc;
    const Json fallback = key->default_value();
    if (!fallback.is_null()) schema["default"] = fallback;
    properties[name] = std::move(schema);
    if (key->required()) required.push_back(name);
  }
  Json schema{{"type", "object"},
              {"properties", std::move(properties)},
              {"additionalProperties", false}};
  if (!tag.empty()) schema["title"] = tag;
  // A node that shares has no other keys than its type.
  if (object == "node" && required.size() > 1)
    schema["anyOf"] = {Json{{"required", std::move(required)}},
                       Json{{"required", {"type", "shares"}}}};
  else if (!required.empty())
    schema["required"] = std::move(required);
  return schema;
}

Json definition(std::string_view object) {
  const std::vector<std::string_view> kinds = kinds_of(object);
  if (kinds.size() == 1) return object_schema(object, kinds[0]);
  Json schemas = Json::array();
  for (const std::string_view kind : kinds)
    schemas.push_back(object_schema(object, kind));
  return {{"oneOf", std::move(schemas)}};
}

}  // namespace

Json network_schema() {
  Json schema = definition("network");
  Json definitions = Json::object();
  for (const Key& key : all_keys())
    if (key.object != "network" && !definitions.contains(key.object))
      definitions[std::string(key.object)] = definition(key.object);
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "dl-network";
  schema["description"] = "A neural network of dl-tools, dl-network(5)";
  schema["$defs"] = std::move(definitions);
  return schema;
}

}  // namespace dl::nn
