#include "libcore/vectorize/record_columns.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/record.h"

namespace dl::vectorize::record_columns_test {

TEST_CASE(
    "records of one table share their names, and another one has its own") {
  RecordColumns first;
  CHECK(first.emplace("a", "1"));
  CHECK(first.emplace("b", "2"));
  CHECK_FALSE(first.emplace("a", "3"));
  RecordColumns second(first.names());
  CHECK(second.size() == 0);
  CHECK_FALSE(second.contains("a"));
  CHECK(second.emplace("a", "4"));
  CHECK(second.names() == first.names());
  CHECK(second.emplace("c", "5"));
  CHECK(second.names() != first.names());
  CHECK(first.value(*first.place("b")) == "2");
  CHECK(second.value(*second.place("c")) == "5");
  CHECK_FALSE(second.contains("b"));
}

TEST_CASE("columns that are detached outlive the block that held their texts") {
  const auto names =
      std::make_shared<const ColumnNames>(std::vector<std::string>{"a", "b"});
  auto block = std::make_shared<std::string>("text and more");
  RecordColumns columns(names,
                        {std::string_view(*block).substr(0, 4),
                         std::string_view(*block).substr(9)},
                        block);
  columns.set(1, "less");
  columns.detach();
  block->assign(block->size(), 'x');
  block.reset();
  CHECK(columns.value(0) == "text");
  CHECK(columns.value(1) == "less");
}

TEST_CASE("a column is found again where another record has it elsewhere") {
  const ColumnOfRecords column("b");
  Record one, other;
  (void)one.columns.emplace("a", "1");
  (void)one.columns.emplace("b", "2");
  (void)other.columns.emplace("b", "3");
  CHECK(column.of(one) == "2");
  CHECK(column.of(other) == "3");
  CHECK(column.of(one) == "2");
}

TEST_CASE("the text of a number that is known is written when it is wanted") {
  const auto names =
      std::make_shared<const ColumnNames>(std::vector<std::string>{"a", "b"});
  std::vector<std::string_view> texts = {"text", RecordColumns::unwritten()};
  std::vector<double> numbers = {std::nan(""), 0.1};
  Record record;
  record.columns.rearrange(names, texts, numbers);
  const ColumnOfRecords a("a"), b("b");
  CHECK(b.of(record) == "0.1");
  CHECK(a.of(record) == "text");
  REQUIRE(b.number_of(record) != nullptr);
  CHECK(*b.number_of(record) == 0.1);
  CHECK(a.number_of(record) == nullptr);
  auto& values = record.columns.refill(names, nullptr);
  values = {"1", "2"};
  CHECK(b.number_of(record) == nullptr);
  CHECK(b.of(record) == "2");
}

TEST_CASE("texts of a record stay where they are until its next one") {
  TextArena arena;
  const std::string_view first = arena.keep("first");
  for (int i = 0; i < 100; ++i) (void)arena.keep(std::string(50, 'x'));
  CHECK(first == "first");
  arena.clear();
  CHECK(arena.keep(std::string(10000, 'y')).size() == 10000);
}

}  // namespace dl::vectorize::record_columns_test
