#include "libcore/vectorize/recipe/raw_examples.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "tests/unit/vectorize/files.h"

namespace dl::vectorize::raw_examples_test {
namespace {

data::Metadata of_a_model() {
  data::Metadata known;
  known.classes = {"no", "yes"};
  known.recipe = Json::parse(R"({
    "source": {"type": "csv"},
    "steps": [{"let": "m", "be": "n * 2"}, {"where": "y != 'none'"}],
    "tensors": {
      "features": {"type": "number", "from": ["n", "m"]},
      "labels": {"type": "category", "from": "y"}}})");
  return known;
}

std::string id_of(const data::DataSet& set, std::size_t i) {
  const auto& ids = set.get("id");
  const auto width = static_cast<std::size_t>(ids.shape()[1]);
  const auto* text =
      reinterpret_cast<const char*>(ids.bytes().data()) + i * width;
  return {text, strnlen(text, width)};
}

}  // namespace

TEST_CASE("later rows of a table are made by the model's recipe, and named") {
  const test::Files files;
  const std::string path = files.write("later.csv", "m,n\n7,1\n8,2.5\n");
  BadRecords bad(0);
  const auto examples =
      open_raw_examples(of_a_model(), {.operands = {path}}, {}, bad);
  data::DataSet set;
  REQUIRE(examples->read(set));
  CHECK(set.examples() == 2);
  CHECK(set.find("labels") == nullptr);
  CHECK(set.get("features").value(1) == 2);
  CHECK(set.get("features").value(2) == 2.5);
  CHECK(set.get("features").value(3) == 5);
  CHECK(id_of(set, 1) == path + ":3");
  CHECK_FALSE(examples->read(set));
}

TEST_CASE("labels of raw rows are the classes of the model") {
  const test::Files files;
  const std::string path =
      files.write("test.csv", "n,y\n1,yes\n2,none\n3,no\n4,perhaps\n");
  BadRecords bad(1);
  const auto examples = open_raw_examples(of_a_model(), {.operands = {path}},
                                          {.labels = true}, bad);
  data::DataSet set;
  REQUIRE(examples->read(set));
  CHECK(set.examples() == 2);
  CHECK(set.get("labels").value(0) == 1);
  CHECK(set.get("labels").value(1) == 0);
  CHECK(set.get("index").value(1) == 1);
  CHECK_FALSE(examples->read(set));
  CHECK(bad.count() == 1);
}

}  // namespace dl::vectorize::raw_examples_test
