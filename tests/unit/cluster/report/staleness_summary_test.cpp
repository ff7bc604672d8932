// Tests of libcore/cluster/report/staleness_summary.h.

#include "libcore/cluster/report/staleness_summary.h"

#include <catch2/catch.hpp>

namespace dl::cluster::staleness_summary_test {

TEST_CASE("staleness is summed up") {
  StalenessSummary s;
  CHECK(s.mean() == 0);
  CHECK(s.median() == 0);
  for (const std::uint64_t age : {7, 0, 3, 3, 100000}) s.add(age);
  CHECK(s.updates() == 5);
  CHECK(s.mean() == 20002.6);
  CHECK(s.median() == 3);
  CHECK(s.max() == 100000);
  s.add(8);
  CHECK(s.median() == 3);  // of 3 and 7 the lower
  s.add(8);
  CHECK(s.median() == 7);
}

}  // namespace dl::cluster::staleness_summary_test
