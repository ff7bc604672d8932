// Tests of libcore/cluster/settings/worker_advice.h.

#include "libcore/cluster/settings/worker_advice.h"

#include <catch2/catch.hpp>

namespace dl::cluster::worker_advice_test {

namespace {

Settings sharing() {
  Settings settings;
  settings.sharing.combine = Combine::kSum;
  settings.sharing.in_flight = 2;
  return settings;
}

Settings averaging(std::int64_t frequency) {
  Settings settings;
  settings.mode = Mode::kAveraging;
  settings.averaging.frequency = frequency;
  return settings;
}

}  // namespace

TEST_CASE("what workers have together is known before a run") {
  Settings settings = sharing();
  CHECK(together(settings, 1).empty());
  CHECK(together(settings, 16) ==
        "16 workers train 512 examples at a time; an update is some 15 to 31 "
        "updates old when it is applied");
  settings.sharing.in_flight = 1;
  CHECK_THAT(together(settings, 16), Catch::Contains("some 15 updates old"));
  settings.sharing.staleness = 0;
  CHECK(together(settings, 4) ==
        "4 workers train 128 examples at a time, as one mini-batch");
  settings.sharing.staleness = 3;
  CHECK(together(settings, 4) ==
        "4 workers train 128 examples at a time, none from parameters that are "
        "more than 3 rounds old");
  CHECK(together(averaging(5), 4) == "4 workers train 128 examples at a time");
  settings.mode = Mode::kSync;
  settings.averaging.workers = 8;
  CHECK(together(settings, 4) ==
        "4 workers train 256 examples at a time, as one mini-batch");
}

TEST_CASE("many workers whose stale updates add up are advised against") {
  Settings settings = sharing();
  CHECK(worker_advice(settings, 8, 1875).empty());
  CHECK_THAT(worker_advice(settings, 16, 1875),
             Catch::Contains("15 to 31 updates old") &&
                 Catch::Contains("--combine diversity"));
  for (const auto& change :
       {+[](SharingSettings& s) { s.staleness = 0; },
        +[](SharingSettings& s) { s.combine = Combine::kMean; },
        +[](SharingSettings& s) {
          s.staleness_rule = dl::exchange::StalenessRule::parse("inverse");
        }}) {
    Settings sound = sharing();
    change(sound.sharing);
    CHECK(worker_advice(sound, 64, 1875).empty());
  }
  settings.sharing.combine = Combine::kMean;
  CHECK(worker_advice(settings, 64, 40) ==
        "an epoch has 40 mini-batches for 64 workers; take fewer, or a smaller "
        "--batch");
}

TEST_CASE("what averages of many lose is said") {
  CHECK(worker_advice(averaging(5), 7, 1875).empty());
  CHECK(worker_advice(averaging(58), 32, 1875) ==
        "32 workers whose parameters are averaged learn less from an epoch "
        "than one: take more epochs, fewer workers, or --mode sharing, see "
        "dl-exchange(7)");
}

TEST_CASE("rounds that are too long for the data are said") {
  CHECK(worker_advice(averaging(500), 32, 1875) ==
        "an epoch of 1875 mini-batches keeps 4 of 32 workers busy, as each "
        "takes 500 in a round; --frequency 58 or less has work for all");
  CHECK(worker_advice(averaging(500), 2, 1875).empty());
  Settings of_eight = averaging(500);
  of_eight.averaging.workers = 4;
  CHECK(worker_advice(of_eight, 32, 1875).empty());
}

}  // namespace dl::cluster::worker_advice_test
