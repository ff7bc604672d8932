// Tests of libcore/base/json.h.

#include "libcore/base/json.h"

#include <catch2/catch.hpp>

namespace dl::json_test {

namespace {

std::string problem(const std::string& text) {
  try {
    parse_json(text, "'x.json'", Code::kConfig);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kConfig);
    return error.what();
  }
  return "no error";
}

template <typename F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("parse_json builds the document") {
  Json json = parse_json(R"({"a": [1, -2, 3.5, true, null, "x"], "b": {}})",
                         "'x'", Code::kData);
  CHECK(json["a"].size() == 6);
  CHECK(json["a"][1] == -2);
  CHECK(json["b"].is_object());
  CHECK(dump_json(json) == R"({"a":[1,-2,3.5,true,null,"x"],"b":{}})");
}

TEST_CASE("parse_json says where it stopped") {
  CHECK_THAT(
      problem("{\"a\": 1,\n  \"a\": 2}"),
      Catch::StartsWith("'x.json', line 2, column 5: duplicate key 'a'"));
  CHECK_THAT(problem("{\"a\": }"),
             Catch::StartsWith("'x.json', line 1, column"));
  CHECK_THAT(problem(""), Catch::StartsWith("'x.json', line 1, column 1:"));
  CHECK_THAT(problem("{} x"), Catch::StartsWith("'x.json', line 1"));
  CHECK_THAT(problem("[1e999]"), Catch::StartsWith("'x.json', line 1"));
}

// They are for programmers, and some begin with [json.exception...].
TEST_CASE("no text of the JSON library is shown") {
  CHECK(problem("{\"a\": 1,\n }") == "'x.json', line 2, column 2: not JSON");
  CHECK(problem("[1e999]") ==
        "'x.json', line 1, column 7: a number is beyond the range of F64");
  for (const char* text :
       {"", "{", "[1", "[1,]", "nul", "\"\x1b\"", "\"a", "\"\xff\"", "[01]",
        "{\"a\" 1}", "\"\\q\"", "\"\\ud800\"", "[-]", "\xff", "\x1b[2J"}) {
    const std::string said = problem(text);
    CAPTURE(text, said);
    CHECK_THAT(said, Catch::Contains(": not JSON"));
    for (const char* theirs : {"exception", "parsing", "expected", "\x1b"})
      CHECK(said.find(theirs) == std::string::npos);
  }
}

TEST_CASE("keys of a document are displayed") {
  CHECK_THAT(problem("{\"\\u001b\": 1, \"\\u001b\": 2}"),
             Catch::EndsWith("duplicate key '\\x1b'"));
}

TEST_CASE("parse_json bounds the depth") {
  std::string at_limit(kMaxJsonDepth, '[');
  at_limit.append(kMaxJsonDepth, ']');
  CHECK(problem(at_limit) == "no error");
  CHECK_THAT(problem(std::string(100000, '[')),
             Catch::Contains("nested deeper than 64"));
}

TEST_CASE("parse_json bounds the number of values") {
  std::string text = "[";
  for (int i = 0; i < 99; ++i) text += i % 2 == 0 ? "[]," : "0,";
  text += "{}]";
  CHECK(parse_json(text, "x", Code::kData, 101).size() == 100);
  try {
    parse_json(text, "x", Code::kData, 100);
    FAIL("was read");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("more than 100 values") !=
          std::string::npos);
  }
}

TEST_CASE("parse_msgpack refuses what parse_json refuses") {
  auto bytes = [](std::vector<std::uint8_t> raw) {
    std::vector<std::byte> result(raw.size());
    std::transform(raw.begin(), raw.end(), result.begin(),
                   [](std::uint8_t b) { return std::byte{b}; });
    return result;
  };
  CHECK(parse_msgpack(bytes({0x81, 0xa1, 'a', 0x05}), "m")["a"] == 5);
  CHECK_THROWS_AS(parse_msgpack(bytes({0x82, 0xa1, 'a', 1, 0xa1, 'a', 2}), "m"),
                  Error);
  CHECK_THROWS_AS(parse_msgpack(bytes({0x81, 0xa1, 'a'}), "m"), Error);
  CHECK_THROWS_AS(
      parse_msgpack(bytes(std::vector<std::uint8_t>(100000, 0x91)), "m"),
      Error);
}

TEST_CASE("JsonView checks type and range and names the path") {
  Json json = parse_json(R"({"l": [{"u": -1, "f": 3.7}], "s": "x"})", "'x'",
                         Code::kData);
  JsonView root(json, Code::kData);
  CHECK(message([&] { root.at("l").at(0).at("u").integer(1, 10); }) ==
        "l[0].u: want integer 1..10, got -1");
  CHECK(message([&] { root.at("l").at(0).at("f").integer(1, 10); }) ==
        "l[0].f: want integer 1..10, got 3.7");
  CHECK(message([&] { root.at("q"); }) == "q: is missing");
  CHECK(message([&] { root.only({"l", "t"}); }) == "s: unknown key");
  CHECK(root.at("s").string() == "x");
  CHECK_FALSE(root.has("t"));
}

TEST_CASE("nearest") {
  CHECK(nearest("unitz", {"units", "bias"}) == "units");
  CHECK(nearest("conv2", {"conv2d", "dense"}) == "conv2d");
  CHECK(nearest("completely", {"units", "bias"}).empty());
  CHECK(nearest("rleu", {"elu", "relu"}) == "relu");
}

TEST_CASE("nearest: a beginning is a better hint than a likeness") {
  CHECK(nearest("acc", {"auc", "mcc", "accuracy"}) == "accuracy");
  CHECK(nearest("precision", {"precision_macro", "precisions"}) ==
        "precisions");
}

TEST_CASE("nearest: a short word is like no other") {
  CHECK(nearest("Y", {"a", "b"}).empty());
  CHECK(nearest("Y", {"a", "y"}) == "y");
  CHECK(nearest("ab", {"cd", "ac"}).empty());
  CHECK(nearest("cat", {"dog", "cow"}).empty());
  CHECK(nearest("cat", {"dog", "bat"}) == "bat");
}

TEST_CASE("a NUL in a text does not end it") {
  for (const std::string_view text :
       {std::string_view("{\"a\": 1}\0 {\"a\": 2}", 19),
        std::string_view("{\"a\": 1}\0", 9), std::string_view("\0", 1),
        std::string_view("{\"a\0\": 1}", 10)})
    CHECK_THROWS_WITH(parse_json(text, "'x.json'", Code::kData),
                      Catch::EndsWith(": a NUL"));
  CHECK(parse_json("{\"a\": \"\\u0000\"}", "'x.json'", Code::kData)["a"] ==
        std::string(1, '\0'));
}

TEST_CASE("a line break in the name of a value makes no line of a message") {
  const Json value = {{"inner", {1}}};
  const JsonView view(value, Code::kData, "a\nb");
  CHECK_THROWS_WITH(view.at("c\nd"), "a\\nb.c\\nd: is missing");
  CHECK_THROWS_WITH(view.integer(0, 1), Catch::StartsWith("a\\nb: want"));
  CHECK_THROWS_WITH(view.only({}), Catch::StartsWith("a\\nb.inner: unknown"));
  CHECK_THROWS_WITH(view.at("inner").at(0).string(),
                    Catch::StartsWith("a\\nb.inner[0]: want"));
}

}  // namespace dl::json_test
