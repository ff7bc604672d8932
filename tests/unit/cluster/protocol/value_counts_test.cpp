// Tests of libcore/cluster/protocol/value_counts.h.

#include "libcore/cluster/protocol/value_counts.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/error_of.h"

namespace dl::cluster::value_counts_test {
namespace {

TEST_CASE("values are counted by sign and half an octave") {
  ValueCounts counts;
  const std::vector<float> values = {1, 1.25f, 1.5f, -1, 0};
  counts.add(values);
  const Json json = counts.to_json();
  CHECK(json["count"] == 5);
  CHECK(json["low"] == -1);
  CHECK(json["high"] == 1.5);
  CHECK(json["mean"].get<double>() == Approx(2.75 / 5));
  CHECK(json["rms"].get<double>() ==
        Approx(std::sqrt((1 + 1.5625 + 2.25 + 1) / 5)));
  REQUIRE(json["bins"].size() == 4);
  // The begin of a bin is in its number.
  const auto begin = [](int bin) {
    const auto bits = static_cast<std::uint32_t>(std::abs(bin) - 1) << 22U;
    return std::bit_cast<float>(bits) * (bin < 0 ? -1.0f : 1.0f);
  };
  CHECK(begin(json["bins"][0][0]) == -1);
  CHECK(begin(json["bins"][1][0]) == 0);
  CHECK(begin(json["bins"][2][0]) == 1);
  CHECK(json["bins"][2][1] == 2);
  CHECK(begin(json["bins"][3][0]) == 1.5f);
}

TEST_CASE("counts of parts add up to those of the whole") {
  std::vector<float> values;
  for (int i = 0; i < 999; ++i)
    values.push_back(std::sin(static_cast<float>(i)) * std::pow(1.1f, i % 90));
  ValueCounts whole, first, second;
  whole.add(values);
  first.add(std::span(values).first(400));
  second.add(std::span(values).subspan(400));
  first.add(ValueCounts::from_json(
      JsonView(second.to_json(), Code::kProtocol, "counts")));
  CHECK(first.to_json()["bins"] == whole.to_json()["bins"]);
  CHECK(first.to_json()["low"] == whole.to_json()["low"]);
  CHECK(first.to_json()["rms"].get<double>() ==
        Approx(whole.to_json()["rms"].get<double>()));
}

TEST_CASE("of many values a sample counts, and of others none") {
  ValueCounts counts;
  counts.add(std::vector<float>(100'000, 2.0f));
  CHECK(counts.to_json()["count"].get<std::size_t>() <= ValueCounts::kMost);
  CHECK(counts.to_json()["rms"] == 2);
  // Numbers beside infinite ones count.
  ValueCounts some;
  some.add(std::vector<float>{1, std::nanf(""), -3e38f,
                              -std::numeric_limits<float>::infinity(), 2});
  CHECK(some.to_json()["count"] == 3);
  CHECK(some.to_json()["rms"].get<double>() == Approx(3e38 / std::sqrt(3)));
  CHECK(some.to_json()["low"] == -3e38f);
  CHECK(some.to_json()["bins"].size() == 3);
  ValueCounts none;
  none.add(std::vector<float>{std::numeric_limits<float>::infinity(),
                              std::nanf("")});
  none.add(std::vector<float>{});
  CHECK(none.empty());
}

TEST_CASE("counts from elsewhere are checked") {
  const auto why = [](const char* text) {
    return error_of([&] {
      const Json json = Json::parse(text);
      ValueCounts::from_json(JsonView(json, Code::kProtocol, "x"));
    });
  };
  CHECK(why(R"({"count":1})").starts_with("76: "));
  CHECK(why(R"({"count":1,"mean":0,"rms":0,"low":0,"high":0,"bins":[[600,1]]})")
            .find("-510..510") != std::string::npos);
  for (const char* bin : {"[-511,1]", "[1,-1]", "[1.5,1]", "[1,1e3]",
                          "[18446744073709551615,1]", "[1]", "7", "[\"1\",1]"})
    CHECK(why((R"({"count":1,"mean":0,"rms":0,"low":0,"high":0,"bins":[)" +
               std::string(bin) + "]}")
                  .c_str())
              .starts_with("76: "));
}

}  // namespace
}  // namespace dl::cluster::value_counts_test
