// Tests of libcore/cluster/run_config/continuation.h.

#include "libcore/cluster/run_config/continuation.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"

namespace dl::cluster::continuation_test {

namespace {

RunState after(std::int64_t epochs) {
  RunState state;
  state.epoch = epochs;
  state.early_stopping = {{"best", 0.9}, {"best_epoch", 0}, {"without", 2}};
  return state;
}

}  // namespace

TEST_CASE("a default of an earlier version stays that of its runs") {
  MasterOptions options;
  Settings settings;
  bool keep_best = false;
  settings.sharing.in_flight = 1;
  const Json begun = {{"settings", {{"sharing", {{"in_flight", 2}}}}}};
  keep_defaults(begun, options, settings, keep_best);
  CHECK(settings.sharing.in_flight == 2);
  options.sharing.in_flight = settings.sharing.in_flight = 4;
  keep_defaults(begun, options, settings, keep_best);
  CHECK(settings.sharing.in_flight == 4);
  CHECK_FALSE(keep_best);
}

TEST_CASE("a run keeps the best model as it began, unless it is told to not") {
  MasterOptions options;
  Settings settings;
  const auto keeps = [&](const Json& begun) {
    bool keep_best = false;
    keep_defaults(begun, options, settings, keep_best);
    return keep_best;
  };
  CHECK(keeps({{"keep", "best"}}));
  CHECK_FALSE(keeps({{"keep", "last"}}));
  CHECK_FALSE(keeps({{"keep", 5}}));  // damaged
  options.keep = "last";
  CHECK_FALSE(keeps({{"keep", "best"}}));
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
  // Work that was begun counts.
  RunState begun = after(3);
  begun.committed = {{0, 1}};
  CHECK_THROWS_WITH(decided(begun),
                    Catch::Contains("at epoch 4, more than --epochs 3"));
}

}  // namespace dl::cluster::continuation_test
