#include "libcore/cluster/continuation.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"

using namespace dl::cluster;
using dl::Json;

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

RunState after(std::int64_t epochs) {
  RunState state;
  state.epoch = epochs;
  state.early_stopping = {{"best", 0.9}, {"best_epoch", 0}, {"without", 2}};
  return state;
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

TEST_CASE("a default of an earlier version stays that of its runs") {
  MasterOptions options;
  Settings settings;
  settings.sharing.in_flight = 1;
  keep_defaults(configuration(), options, settings);
  CHECK(settings.sharing.in_flight == 2);
  options.sharing.in_flight = settings.sharing.in_flight = 4;
  keep_defaults(configuration(), options, settings);
  CHECK(settings.sharing.in_flight == 4);
}

TEST_CASE("the command at hand says whether a run is finished") {
  Settings settings;
  settings.metric = "accuracy";
  settings.epochs = 3;
  const auto decided = [&](RunState state, double max_time = 0) {
    decide_whether_finished(state, settings, max_time, "m.run");
    return std::pair(state.finished, state.reason);
  };
  const auto going = std::pair(false, std::string());
  CHECK(decided(after(3)) == std::pair(true, std::string()));
  CHECK(decided(after(2)) == going);
  RunState ended = after(2);
  ended.finished = true;
  ended.reason = "no better accuracy for 2 epochs";
  CHECK(decided(ended) == going);
  settings.patience = 2;
  CHECK(decided(after(2)) == std::pair(true, ended.reason));
  settings.patience = 3;
  CHECK(decided(after(2)) == going);
  settings.target = "accuracy=0.8";
  CHECK(decided(after(2)).second == "the target for accuracy is reached");
  settings.target = "";
  ended.reason = kTimeIsOver;
  ended.elapsed = 60;
  CHECK(decided(ended, 50) == std::pair(true, std::string(kTimeIsOver)));
  CHECK(decided(ended, 70) == going);
  CHECK(decided(ended) == going);
  // What was begun counts.
  RunState begun = after(3);
  begun.committed = {{0, 1}};
  CHECK_THROWS_WITH(decided(begun),
                    Catch::Contains("at epoch 4, more than --epochs 3"));
}
