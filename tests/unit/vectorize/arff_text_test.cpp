// Words and attributes of ARFF.

#include "libcore/vectorize/source/arff_text.h"

#include <catch2/catch.hpp>

#include "tests/unit/error_of.h"

namespace dl::vectorize::arff_text_test {

TEST_CASE("words of ARFF") {
  const auto words = arff_words(R"( 5.1 ,'it\'s, a', "x\"\n",?,'?', b c ,)");
  REQUIRE(words.size() == 7);
  CHECK(words[0].text == "5.1");
  CHECK(words[1].text == "it's, a");
  CHECK(words[2].text == "x\"\n");
  CHECK(words[3].is_missing());
  CHECK(words[4].text == "?");
  CHECK(!words[4].is_missing());
  CHECK(words[5].text == "b c");
  CHECK(words[6].text.empty());
  CHECK(error_of([] { arff_words("1,'a"); }) == "65: a quote is not closed");
  CHECK(error_of([] { arff_words("'a' b,1"); }) ==
        "65: text after a closing quote");
}

TEST_CASE("attributes of ARFF") {
  using Kind = ArffAttribute::Kind;
  CHECK(arff_attribute(" 'the day'\tDATE \"yyyy\"").kind == Kind::kDate);
  CHECK(arff_attribute(" 'the day' DATE").name == "the day");
  CHECK(arff_attribute("x Integer").kind == Kind::kNumber);
  CHECK(arff_attribute("x STRING").kind == Kind::kText);
  const ArffAttribute nominal = arff_attribute("class {yes, 'no way',3}");
  CHECK(nominal.kind == Kind::kNominal);
  CHECK(nominal.values == std::vector<std::string>{"yes", "no way", "3"});
  CHECK(error_of([] {
          arff_attribute("x relational");
        }).starts_with("65: attribute 'x': want numeric, "));
  CHECK(error_of([] {
          arff_attribute("x {a, b");
        }).starts_with("65: the values of attribute 'x'"));
  CHECK(error_of([] { arff_attribute(" "); }) ==
        "65: an attribute has no name");
}

TEST_CASE("keywords of ARFF") {
  std::string_view line = "@Attribute x real";
  CHECK(take_arff_keyword(line, "@attribute"));
  CHECK(line == " x real");
  line = "@dataset";
  CHECK(!take_arff_keyword(line, "@data"));
}

}  // namespace dl::vectorize::arff_text_test
