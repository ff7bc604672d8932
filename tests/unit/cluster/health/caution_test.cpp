#include "libcore/cluster/health/caution.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace dl::cluster::caution_test {

namespace {

struct Losses {
  Caution caution;
  std::mt19937 random{7};
  std::uint64_t staleness = 15;

  void add(int updates, double from, double to, double noise) {
    std::normal_distribution<double> normal(0, noise);
    for (int i = 0; i < updates; ++i)
      caution.add(from + (to - from) * i / updates + normal(random), staleness);
  }
};

}  // namespace

TEST_CASE("caution is all there is in the beginning, and goes in some rounds") {
  Losses losses;
  CHECK(losses.caution.correlation() == 1);
  losses.add(16, 2.3, 2.2, 0.1);
  CHECK(losses.caution.correlation() == Approx(std::exp(-0.5)));
  losses.add(16 * 15, 2.2, 2, 0.1);
  CHECK(losses.caution.correlation() == Approx(std::exp(-8)));
}

TEST_CASE("a loss that rises brings it back") {
  Losses losses;
  losses.add(640, 2.3, 1.5, 0.2);
  CHECK(losses.caution.correlation() < 1e-6);
  losses.add(16, 2.2, 2.4, 0.2);
  CHECK(losses.caution.correlation() > 0.6);
  losses.add(640, 2.2, 1, 0.2);
  CHECK(losses.caution.correlation() < 1e-3);
}

TEST_CASE("each further rise makes trust come back half as fast") {
  Losses losses;
  const auto after_rise = [&] {
    losses.add(640, 2.3, 1.5, 0.1);
    // Two rounds in which it stands out, and two.
    losses.add(64, 2.4, 2.4, 0.1);
    losses.add(32, 2.4, 2.4, 0.1);
    return losses.caution.correlation();
  };
  CHECK(after_rise() == Approx(std::exp(-2.0 / 4)));
  CHECK(after_rise() == Approx(std::exp(-2.0 / 8)));
  for (int i = 0; i < 10; ++i) after_rise();
  losses.add(640, 2, 1.5, 0.1);  // 40 rounds, where 32 are the most
  CHECK(losses.caution.correlation() < 0.35);
}

TEST_CASE("noise, and a rise that is small beside the way, do not") {
  for (const std::uint64_t staleness : {0, 1, 7, 31, 63})
    for (const double noise : {0.0, 0.05, 0.2}) {
      Losses losses;
      losses.staleness = staleness;
      losses.add(2000, 2.5, 0.3, noise);
      const double before = losses.caution.correlation();
      losses.add(4000, 0.3, 0.5, noise);
      CHECK(losses.caution.correlation() <= before);
    }
}

TEST_CASE("where losses do not vary at all, any rise counts that is of size") {
  Losses losses;
  losses.add(200, 2, 2, 0);
  losses.add(200, 2, 1, 0);
  CHECK(losses.caution.correlation() < 1e-4);
  losses.add(8, 1.5, 1.5, 0);  // one block, which may be chance
  CHECK(losses.caution.correlation() < 1e-4);
  losses.add(8, 1, 1, 0);
  losses.add(16, 1.5, 1.5, 0);
  CHECK(losses.caution.correlation() > 0.5);
}

}  // namespace dl::cluster::caution_test
