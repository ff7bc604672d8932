#include "libcore/vectorize/recipe/recipe.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "libcore/base/error.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::recipe_test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(DL_SOURCE_DIR "/" + path);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Recipe parsed(const std::string& text) {
  return Recipe::from_json(parse_json(text, "'r.json'", Code::kConfig),
                           "'r.json'", Code::kConfig);
}
std::string refused(const std::string& text) {
  return error_of([&] { parsed(text); });
}

const std::string kStart = R"({"source": {"type": "files"}, "tensors": )";

}  // namespace

TEST_CASE("a recipe says all that it leaves to the defaults") {
  const Recipe recipe =
      parsed(kStart + R"({"features": {"type": "image", "size": [4, 6]},
                         "labels": {"type": "category", "classes": ["a", "b"]}}})");
  const Json json = recipe.to_json();
  const Json& image = json["tensors"]["features"];
  CHECK(image["fit"] == "crop");
  CHECK(image["from"] == "bytes");
  CHECK_FALSE(image.contains("shorter"));
  // Metadata have the classes themselves.
  CHECK(json["tensors"]["labels"].dump() ==
        R"({"from":"folder","type":"category"})");
  CHECK(json["libraries"].contains("libjpeg-turbo"));
  // And means the same when it is read.
  const Recipe again = Recipe::from_json(json, "it", Code::kData);
  CHECK(again.to_json() == json);
  CHECK(again.doubts().empty());
}

TEST_CASE("every mistake in a recipe is told with its place") {
  CHECK(refused("[]") == "78: 'r.json': want an object, got []");
  CHECK(refused(kStart + R"({"features": {"type": "image"}}})") ==
        "78: 'r.json': tensors.features.size: missing; want "
        "[height, width], integers 1..65535");
  CHECK(
      refused(R"({"sauce": 1, "tensors": {
      "features": {"type": "imag", "size": [1, 1]},
      "labels": {"type": "category", "clases": ["a"]},
      "picture": {"type": "image"},
      "id": {"type": "category"}}})") ==
      "78: 'r.json': sauce: unknown key; the keys of a recipe are version, "
      "source, steps, series, "
      "tensors, libraries, fit\n"
      "'r.json': tensors.features.type: want one of image, mask, category, "
      "number, "
      "bins, date, "
      "id, got "
      "\"imag\"; did you mean 'image'?\n"
      "'r.json': tensors.id.type: id is the type of the tensor id alone\n"
      "'r.json': tensors.labels.clases: unknown key; did you mean 'classes'?\n"
      "'r.json': tensors.picture: want features, features/NAME, labels, "
      "labels/NAME "
      "or id\n"
      "'r.json': source: missing");
  const auto image = [](const std::string& keys) {
    return refused(kStart + R"({"features": {"type": "image", )" + keys +
                   "}}}");
  };
  CHECK_THAT(image(R"("size": [0, 1])"), Catch::Contains("got [0,1]"));
  CHECK_THAT(image(R"("size": [1, 1], "fit": "corp")"),
             Catch::Contains("did you mean 'crop'?"));
  CHECK_THAT(image(R"("size": [1, 1], "max_pixels": 1.5)"),
             Catch::Contains("want integer 1..4294967296, got 1.5"));
  CHECK_THAT(refused(R"({"version": 2, "source": {"type": "files"},
      "tensors": {"id": {"type": "id"}}})"),
             Catch::Contains("version: want 1, got 2"));
}

TEST_CASE("a recipe that cannot work is refused, with the place") {
  const auto features = [](const std::string& value) {
    return refused(kStart + R"({"features": )" + value + "}}");
  };
  CHECK(features(R"([{"type": "number", "from": ["a"], "missing": "mean"},
                     {"type": "image", "size": [2, 2]}])") ==
        "78: 'r.json': tensors.features[1]: an array of vectorizers makes one "
        "row of numbers: want number, date, bins, and category with "
        "\"encode\": \"one_hot\" or \"hashed\"");
  CHECK(features(R"({"type": "category", "from": "a", "encode": "one_hot",
                     "pattern": "("})") ==
        "78: 'r.json': tensors.features.pattern: '(' is no regular expression "
        "(missing ): ()");
  CHECK(features(R"({"type": "number", "from": ["a"], "missing": "mean",
                     "value": 1})") ==
        "78: 'r.json': tensors.features: value is for \"missing\": \"value\" "
        "or \"previous\"");
  CHECK(features(R"({"type": "number", "from": ["a"], "missing": "mean",
                     "fills": [1, 2]})") ==
        "78: 'r.json': tensors.features: fills wants a number for each column, "
        "1, got 2");
  CHECK(features(R"({"type": "number", "from": ["a"], "fills": [1]})") ==
        "78: 'r.json': tensors.features: fills is for \"missing\": \"mean\", "
        "\"median\" or \"most_frequent\"");
  CHECK(features(R"({"type": "category", "unknown": "zeros"})") ==
        "78: 'r.json': tensors.features: unknown is for \"encode\": "
        "\"one_hot\"");
  CHECK(features(R"({"type": "image", "size": [2, 2], "shorter": 3,
                     "fit": "pad"})") ==
        "78: 'r.json': tensors.features: shorter is for fit crop");
  CHECK(refused(kStart + R"({"id": {"type": "id"}}})") ==
        "78: 'r.json': tensors: want features, or features/NAME");
  CHECK(refused(R"({"source": {"type": "csv", "delimiter": ";;"}, "tensors":
                   {"features": {"type": "number", "from": ["a"]}}})") ==
        "78: 'r.json': source.delimiter: want one character (or \\t), got "
        "\";;\"");
}

TEST_CASE("libraries of other versions are told") {
  Recipe recipe =
      parsed(kStart + R"({"features": {"type": "image", "size": [4, 6]}}})");
  recipe.libraries = {{"libspng", "0.0.1"}, {"unknown", 1}};
  REQUIRE(recipe.doubts().size() == 1);
  CHECK_THAT(recipe.doubts()[0],
             Catch::Contains("was used with libspng 0.0.1, this program has"));
}

TEST_CASE("dl-recipe(5) is what the tables say") {
  INFO("scripts/generate puts it right");
  const std::string page = read_file("man/dl-recipe.5.scd");
  CHECK((page.find("; from here, scripts/generate writes\n\n" + recipe_page() +
                   "\n; to here\n") != std::string::npos));
  const std::size_t at = page.find("```\n{") + 4, end = page.find("\n```", at);
  CHECK_NOTHROW(parsed(page.substr(at, end - at)));
}

}  // namespace dl::vectorize::recipe_test
