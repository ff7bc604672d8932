// Tests of libcore/plot/event_line.h: what nlohmann's parser takes and finds.

#include "libcore/plot/event_line.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "libcore/base/json.h"

namespace dl::plot::event_line_test {
namespace {

Json document_of(EventValue value) {
  if (value.is_object()) {
    Json all = Json::object();
    for (EventValue one = value.first(); one; one = one.next())
      all[one.key()] = document_of(one);
    return all;
  }
  if (value.is_array()) {
    Json all = Json::array();
    for (EventValue one = value.first(); one; one = one.next())
      all.push_back(document_of(one));
    return all;
  }
  if (value.is_string()) return value.text();
  if (value.is_number()) return value.number();
  return value.json();
}

// Numbers as 64-bit floats.
Json with_floats(Json json) {
  if (json.is_structured())
    for (Json& one : json) one = with_floats(one);
  return json.is_number() ? Json(json.get<double>()) : json;
}

void check(const std::string& text) {
  INFO(text);
  EventLine line;
  const Json want = Json::parse(text, nullptr, false);
  REQUIRE(line.parse(text) != want.is_discarded());
  if (!want.is_discarded())
    CHECK(document_of(line.root()) == with_floats(want));
}

const std::vector<std::string>& samples() {
  static const std::vector<std::string> all = {
      R"({"event":"commit","loss":0.0031846231767284927,"count":1,"x":-7})",
      R"( { "a" : [ 1 , 2.5e3 , -0.0 , 1E-7 ] , "b" : { } , "c" : [ ] } )",
      R"({"a":true,"b":false,"c":null,"a":"last"})",
      R"({"\u0061b":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","ü":"é€😀"})",
      R"([18446744073709551616,123456789012345678,1234567890123456789,4e-324])",
      R"([9007199254740993,0.1,1e308,2.2250738585072014e-308,1e-400])",
      R"("alone")",
      "7",
      "[[[[[]]],{\"a\":{\"b\":[{}]}}]]"};
  return all;
}

TEST_CASE("lines have the values that a document of them has") {
  for (const std::string& text : samples()) check(text);
}

TEST_CASE("lines that are not JSON are refused") {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "1e999",
                           "tru",
                           "nul",
                           "\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\x01\"",
                           "\"\xff\"",
                           "{\"\xff\":1}",
                           "1 2",
                           "[1}",
                           "NaN",
                           "[1 2]",
                           "{1:2}",
                           "\"\\",
                           "\"\\u00\""})
    check(text);
  EventLine line;
  CHECK_FALSE(line.parse(std::string(1'000'000, '[')));
  CHECK_FALSE(line.root());
}

TEST_CASE("damaged lines are refused as a document of them is") {
  std::mt19937 random(7);
  const std::string bytes = "{}[]\",:\\0123456789.eE+-truefalsn \xc3\xa9\x01";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = samples()[random() % samples().size()];
    for (auto n = 1 + random() % 3; n > 0; --n)
      text[random() % text.size()] = bytes[random() % bytes.size()];
    check(text);
  }
}

TEST_CASE("values that are not there, or of another kind, are none") {
  EventLine line;
  REQUIRE(line.parse(R"({"a":"x","b":[1],"c":1.5})"));
  const EventValue root = line.root();
  CHECK_FALSE(root["d"]);
  CHECK(root["d"].json().is_null());
  CHECK(std::isnan(root["a"].number()));
  CHECK(root["c"].text().empty());
  CHECK_FALSE(root["c"]["x"]);
  CHECK_FALSE(root["c"].is_integer());
  CHECK(root["b"].first().is_integer());
  CHECK_FALSE(root["b"].first().next());
  CHECK(EventValue().size() == 0);
}

}  // namespace
}  // namespace dl::plot::event_line_test
