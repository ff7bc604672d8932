// Tests of libcore/cluster/run_dir/run_json.h.

#include "libcore/cluster/run_dir/run_json.h"

#include <catch2/catch.hpp>

namespace dl::cluster::run_json_test {

namespace {

Json configuration() {
  return {{"format", 1},
          {"keep", "last"},
          {"settings",
           {{"epochs", 3},
            {"batch", 32},
            {"metric", "accuracy"},
            {"evaluations", {"classification"}},
            {"patience", 0},
            {"target", ""},
            {"sharing", {{"in_flight", 2}}}}},
          {"data", {{"training", {"a"}}, {"evaluation", {"b"}}}}};
}

}  // namespace

TEST_CASE("what shapes the epochs must stay, what ends them may change") {
  const Json before = configuration();
  Json now = before;
  now["settings"]["epochs"] = 9;
  now["settings"]["patience"] = 3;
  now["settings"]["target"] = "accuracy=0.9";
  now["keep"] = "best";
  CHECK(fixed_part(now) == fixed_part(before));
  CHECK(wants_otherwise(before, now));
  CHECK_FALSE(judges_otherwise(before, now));
  now["data"]["evaluation"] = Json{"c"};
  CHECK(fixed_part(now) == fixed_part(before));
  CHECK(judges_otherwise(before, now));
  now["settings"]["batch"] = 16;
  CHECK(fixed_part(now) != fixed_part(before));
}

TEST_CASE("what a run found out about itself is no difference") {
  Json before = configuration();
  before["log"] = "0123456789abcdef";
  before["instructions"] = {"avx2"};
  CHECK(fixed_part(before) == fixed_part(configuration()));
  CHECK_FALSE(wants_otherwise(before, configuration()));
  CHECK(instructions_in(before) == std::vector<std::string>{"avx2"});
  CHECK(instructions_in(configuration()).empty());
}

TEST_CASE("another metric judges the epochs otherwise, loss no evaluation") {
  Json before = configuration(), now = before;
  now["settings"]["metric"] = "auc";
  CHECK(judges_otherwise(before, now));
  before["settings"]["metric"] = now["settings"]["metric"] = "loss";
  now["data"]["evaluation"] = Json::array();
  now["settings"]["evaluations"] = Json::array();
  CHECK_FALSE(judges_otherwise(before, now));
}

}  // namespace dl::cluster::run_json_test
