// The table of keys against what is published of it: the entries of
// dl-network(5) and dl-layers(5), and the JSON Schema.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/config/layers_page.h"

namespace dl::nn::config_page_test {

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(DL_SOURCE_DIR "/" + path);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Runs of white space as one space.
std::string flat(const std::string& text) {
  std::stringstream words(text);
  std::string all, word;
  while (words >> word) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string entry_of(const Key& key) {
  std::string entry = dl::nn::page_entry(key);
  if (key.variants.empty() || key.object == "network") return flat(entry);
  // "_adam, adamax_. Required. ..." behind the line of the key
  std::string variants = key.variants;
  for (std::size_t at = 0; (at = variants.find(' ', at)) != std::string::npos;
       at += 2)
    variants.insert(at, ",");
  return flat(entry.insert(entry.find("\n\t") + 2, "_" + variants + "_. "));
}

}  // namespace

TEST_CASE("dl-network(5) has the keys of the table but those of layers") {
  const std::string source = read_file("man/dl-network.5.scd");
  const std::string page = flat(source);
  std::size_t at = 0;
  std::string object;
  std::set<std::string> seen;
  std::size_t keys = 0;
  for (const Key& key : dl::nn::all_keys()) {
    if (key.object == "layer") continue;  // dl-layers(5) has them
    ++keys;
    if (key.object != object) {  // the objects may come in any order
      object = key.object;
      CHECK(seen.insert(object).second);
      at = 0;
    }
    const std::string entry = entry_of(key);
    INFO("the page lacks, or has in another order: " << entry);
    const std::size_t found = page.find(entry, at);
    CHECK(found != std::string::npos);
    if (found != std::string::npos) at = found + entry.size();
  }
  std::size_t entries = 0;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    entries += line.starts_with('*') && line.find("*: ") != std::string::npos;
  CHECK(entries == keys);
}

TEST_CASE("dl-layers(5) says what the types of layers say") {
  const std::string page = dl::nn::layers_page();
  INFO("scripts/generate puts it right");
  CHECK((read_file("man/dl-layers.5.scd")
             .find("; from here, scripts/generate writes\n\n" + page +
                   "\n; to here\n") != std::string::npos));
}

TEST_CASE("the example of dl-network(5) is lenet.json") {
  CHECK(read_file("man/dl-network.5.scd")
            .find("```\n" + read_file("scripts/share/examples/lenet.json") +
                  "```") != std::string::npos);
}

TEST_CASE("the networks that dl-network(5) shows are ones") {
  const std::string page = read_file("man/dl-network.5.scd");
  int networks = 0;
  for (std::size_t at = 0;
       (at = page.find("```\n{\n", at)) != std::string::npos; ++networks) {
    const std::size_t end = page.find("\n```", at += 4);
    CHECK_NOTHROW(dl::nn::parse_network(page.substr(at, end - at), "page"));
  }
  CHECK(networks == 8);
}

TEST_CASE("the schema says what the table says") {
  const Json schema = dl::nn::network_schema();
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  REQUIRE(schema["oneOf"].size() == 2);
  const Json &sequence = schema["oneOf"][0], &graph = schema["oneOf"][1];
  CHECK(sequence["additionalProperties"] == false);
  CHECK(sequence["required"] == Json({"input", "layers"}));
  CHECK(graph["required"] == Json({"inputs", "nodes", "outputs"}));
  const Json& node = schema["$defs"]["node"]["oneOf"][1];
  CHECK(node["anyOf"][0]["required"] == Json({"type", "filters", "kernel"}));
  CHECK(node["anyOf"][1]["required"] == Json({"type", "shares"}));
  const Json& layers = schema["$defs"]["layer"]["oneOf"];
  REQUIRE(layers.size() == dl::nn::layer_types().size());
  const Json& conv = layers[1];
  CHECK(conv["title"] == "conv2d");
  CHECK(conv["properties"]["type"]["const"] == "conv2d");
  CHECK(conv["required"] == Json({"type", "filters", "kernel"}));
  CHECK_FALSE(conv["properties"].contains("units"));
  CHECK(conv["properties"]["filters"]["minimum"] == 1);
  CHECK(conv["properties"]["filters"]["maximum"] == 2147483647);
  CHECK(conv["properties"]["bias"]["default"] == true);
  const auto titled = [&](const char* type) {
    return *std::ranges::find_if(
        layers, [&](const Json& layer) { return layer["title"] == type; });
  };
  const Json dropout = titled("dropout")["properties"]["rate"];
  CHECK(dropout["minimum"] == 0);
  CHECK(dropout["exclusiveMaximum"] == 1);
  CHECK_FALSE(dropout.contains("maximum"));
  // "constant" needs a value, so its name alone will not do.
  const Json& init = sequence["properties"]["weight_init"]["anyOf"][0]["enum"];
  CHECK(std::count(init.begin(), init.end(), "he") == 1);
  CHECK(std::count(init.begin(), init.end(), "constant") == 0);
  // Every reference leads somewhere.
  const std::string text = schema.dump();
  const std::string mark = "\"#/$defs/";
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    CHECK(schema["$defs"].contains(text.substr(at, text.find('"', at) - at)));
  }
}

}  // namespace dl::nn::config_page_test
