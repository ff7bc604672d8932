// Tests of libcore/cluster/worker/process_use.h.

#include "libcore/cluster/worker/process_use.h"

#include <catch2/catch.hpp>

namespace dl::cluster::process_use_test {
namespace {

struct TurnedClock : Clock {
  double now = 1000;
  double seconds() override { return now; }
};

TEST_CASE("the use of a process is told with the time that it took") {
  TurnedClock clock;
  ProcessUse use(clock);
  const ExchangeStats at_once = use.take();
  CHECK(at_once.measured == 0);
  CHECK(at_once.cpu == 0);
  CHECK(at_once.memory == 0);
  clock.now += 4;
  const ExchangeStats later = use.take();
  CHECK(later.measured == 4);
  CHECK(later.memory > 0);
  CHECK(later.empty());
  clock.now += 1;
  CHECK(use.take().measured == 1);
}

}  // namespace
}  // namespace dl::cluster::process_use_test
