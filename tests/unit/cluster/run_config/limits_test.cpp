// Tests of the limits that depend on the network.

#include <catch2/catch.hpp>

#include "libcore/cluster/run_config/run_config.h"

namespace dl::cluster::limits_test {
namespace {

TEST_CASE("a worker has time to take in large parameters", "[limits]") {
  MasterOptions options;
  options.lost_after = std::chrono::milliseconds(2500);
  RunConfig config;
  CHECK(config.limits(options).lost_after == 2.5);
  config.parameters = 75'000'000;     // 300 MB
  config.updater_state = 50'000'000;  // 200 MB
  CHECK(config.limits(options).lost_after == 12.5);
}

}  // namespace
}  // namespace dl::cluster::limits_test
