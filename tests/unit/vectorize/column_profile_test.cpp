// Types of columns by their values.

#include "libcore/vectorize/analysis/column_profile.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/digest_set.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::column_profile_test {
namespace {

ColumnProfile column(const std::vector<std::string>& values,
                     const std::string& name = "x") {
  ColumnProfile all(name);
  for (const std::string& value : values) all.see(value, value.empty());
  all.settle();
  return all;
}

// 40 different ones.
std::vector<std::string> reals() {
  std::vector<std::string> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(std::to_string(i * 37 % 41) + ".25");
  return all;
}

std::vector<std::string> dates(const char* pattern) {
  std::vector<std::string> all;
  for (int i = 0; i < 40; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, pattern, 1 + i % 28, 1 + i % 12);
    all.emplace_back(text);
  }
  return all;
}

std::vector<std::string> with(std::vector<std::string> values,
                              const std::vector<std::string>& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("digests that come again") {
  DigestSet set;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 5000; ++i) all.push_back(i * i << 20);
  CHECK(set.add(all) == 0);
  CHECK(set.add(all) == 5000);
  const std::vector<std::uint64_t> twice = {0, 5, 5, 1 << 20};
  CHECK(set.add(twice) == 3);
  CHECK(set.add({}) == 0);
}

TEST_CASE("a few words among numbers do not make ids of them") {
  CHECK(column(reals()).type() == ColumnType::kNumber);
  const ColumnProfile some = column(with(reals(), {"unknown", "-"}));
  CHECK(some.type() == ColumnType::kNumber);
  CHECK(some.strays() == Words{"-", "unknown"});
  // As many as tell that it is no column of numbers.
  CHECK(column(with(reals(), {"a", "b", "c", "d"})).strays().empty());
  CHECK(column(with(reals(), Words(9, "a"))).strays().empty());
}

TEST_CASE("a few words among dates are no dates of another column") {
  const Words german = dates("%02d.%02d.2024");
  CHECK(column(german).type() == ColumnType::kDate);
  const ColumnProfile some = column(with(german, {"unknown", "unknown"}));
  CHECK(some.type() == ColumnType::kDate);
  CHECK(some.date_format() == std::string("%d.%m.%Y"));
  CHECK(some.strays() == Words{"unknown"});
  CHECK(column(with(german, Words(9, "unknown"))).date_format() == nullptr);
  // No format is that of all where there are two.
  CHECK(column(with(german, {"2024-01-31"})).date_format() == nullptr);
}

TEST_CASE("day and month may be either while no day is above twelve") {
  Words low;
  for (int i = 1; i <= 12; ++i)
    low.push_back(std::to_string(i) + "/0" + std::to_string(1 + i % 9) +
                  "/2024");
  CHECK(column(low).has_other_date_format());
  CHECK_FALSE(column(with(low, {"13/01/2024"})).has_other_date_format());
}

TEST_CASE("words of which nearly every row has another are text") {
  Words names, towns;
  for (int i = 0; i < 60; ++i) {
    names.push_back("name" + std::to_string(i % 55));
    towns.push_back("town" + std::to_string(i % 25));
  }
  CHECK(column(names).type() == ColumnType::kText);
  CHECK(column(towns).type() == ColumnType::kCategory);
}

TEST_CASE("words are a category though there are more than are told apart") {
  ColumnProfile streets("street"), ids("key");
  constexpr int kRows = 200'000, kStreets = 40'000;
  for (int i = 0; i < kRows; ++i) {
    streets.see("Street " + std::to_string(i * 7919LL % kStreets), false);
    ids.see("key" + std::to_string(i), false);
  }
  streets.settle();
  ids.settle();
  CHECK_FALSE(streets.is_counted());
  CHECK(streets.type() == ColumnType::kCategory);
  CHECK(streets.top(1)[0].second == kRows / kStreets);
  CHECK(ids.type() == ColumnType::kId);
}

TEST_CASE("profiles of parts make up that of all") {
  const Words dated = dates("2024-%2$02d-%1$02d");
  for (const Words& values :
       {reals(), dated, Words{"1", "2", "3", "4"}, Words{"yes", "no", "", "no"},
        with(reals(), {"unknown", "-"})}) {
    const ColumnProfile all = column(values);
    const auto half = std::ssize(values) / 2;
    ColumnProfile parts = column({values.begin(), values.begin() + half});
    parts.merge(column({values.begin() + half, values.end()}));
    CHECK(parts.type() == all.type());
    CHECK(parts.distinct() == all.distinct());
    CHECK(parts.top(3) == all.top(3));
    CHECK(parts.strays() == all.strays());
    CHECK(parts.mean() == Approx(all.mean()));
    CHECK(parts.deviation() == Approx(all.deviation()));
    const Json state = parts.state();
    const auto again = ColumnProfile::of_state(JsonView(state, Code::kData));
    CHECK(again.state() == state);
  }
}

TEST_CASE("a saved column whose counts do not add up is refused") {
  const Json state = column({"x", "y", "x", "2020-01-01"}).state();
  const auto refusal = [&](const char* at, const Json& value) {
    Json edited = state;
    edited[Json::json_pointer(at)] = value;
    return error_of(
        [&] { ColumnProfile::of_state(JsonView(edited, Code::kData)); });
  };
  CHECK(refusal("/values/0/1", 3).find("values: want counts of 4") !=
        std::string::npos);
  CHECK(refusal("/values/0/1", 1).find("values: want counts of 4") !=
        std::string::npos);
  CHECK(refusal("/values/1/0", "x").find("each value once") !=
        std::string::npos);
  CHECK(refusal("/told_apart", 3).starts_with("65: told_apart"));
  CHECK(refusal("/any_dates", 5).starts_with("65: any_dates"));
  CHECK(refusal("/dates/0", 2).starts_with("65: dates"));
  CHECK(refusal("/no_dates/0/1", 4).starts_with("65: no_dates"));
}

}  // namespace dl::vectorize::column_profile_test
