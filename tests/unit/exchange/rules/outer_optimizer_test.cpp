// The outer optimizer against steps computed by hand and against the published
// recursions of BMUF and DiLoCo.

#include "libcore/exchange/rules/outer_optimizer.h"

#include <catch2/catch.hpp>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"

namespace dl::exchange::outer_optimizer_test {

using Kind = OuterOptimizer::Kind;

TEST_CASE("outer steps by hand") {
  // Dyadic, so that float arithmetic is exact.
  const std::vector<float> first = {1, -2}, second = {0.5F, 4};

  std::vector<float> w = {8, 8}, none;
  const OuterOptimizer plain{Kind::kPlain, 0.5, 0};
  plain.step(w, first, none);
  CHECK(w == std::vector<float>{8.5F, 7});
  plain.step(w, second, none);
  CHECK(w == std::vector<float>{8.75F, 9});

  // D = 0.5 D + 2 G: (2, -4), then (2, 6).
  w = {8, 8};
  std::vector<float> d(2);
  const OuterOptimizer momentum{Kind::kMomentum, 2, 0.5};
  momentum.step(w, first, d);
  CHECK(d == std::vector<float>{2, -4});
  CHECK(w == std::vector<float>{10, 4});
  momentum.step(w, second, d);
  CHECK(d == std::vector<float>{2, 6});
  CHECK(w == std::vector<float>{12, 10});

  // The same D; W += 2 G + 0.5 D: (3, -6), then (2, 11).
  w = {8, 8};
  d = {0, 0};
  const OuterOptimizer nesterov{Kind::kNesterov, 2, 0.5};
  nesterov.step(w, first, d);
  CHECK(w == std::vector<float>{11, 2});
  nesterov.step(w, second, d);
  CHECK(d == std::vector<float>{2, 6});
  CHECK(w == std::vector<float>{13, 13});
}

TEST_CASE("plain at rate 1 is the average itself") {
  dl::Philox random(1, 1);
  std::vector<float> w(100), delta(100), none;
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] = static_cast<float>(random.below(1000)) / 64;
    delta[i] = static_cast<float>(random.below(1000)) / 64;
  }
  std::vector<float> got = w;
  OuterOptimizer{}.step(got, delta, none);
  for (std::size_t i = 0; i < w.size(); ++i) CHECK(got[i] == w[i] + delta[i]);
}

// Chen and Huo 2016: D = eta D + zeta G, W = W + D, and workers restart from
// W + eta D.  Douillard et al. 2023: v = mu v + g, theta -= lr (g + mu v), with
// g = -G.  Both are one step of ours, with zeta = lr and eta = mu.
TEST_CASE("nesterov is BMUF's and DiLoCo's step") {
  constexpr double kZeta = 0.7, kEta = 0.9;
  const OuterOptimizer outer{Kind::kNesterov, kZeta, kEta};
  dl::Philox random(2, 1);
  std::vector<float> ours = {1}, velocity = {0};
  double block = 1, d = 0, restart = 1;  // BMUF
  double theta = 1, v = 0;               // DiLoCo
  for (int t = 0; t < 50; ++t) {
    const auto gain = static_cast<float>(random.normal());
    outer.step(ours, {&gain, 1}, velocity);
    d = kEta * d + kZeta * gain;
    block += d;
    restart = block + kEta * d;
    v = kEta * v - gain;
    theta -= kZeta * (-gain + kEta * v);
    INFO("step " << t);
    CHECK(ours[0] == Approx(restart).epsilon(1e-4).margin(1e-4));
    CHECK(theta == Approx(restart).epsilon(1e-12));
    CHECK(velocity[0] == Approx(-kZeta * v).epsilon(1e-4).margin(1e-4));
  }
}

TEST_CASE("a velocity of another size is our bug") {
  std::vector<float> w(3), delta(3), velocity(2), none;
  const OuterOptimizer momentum{Kind::kMomentum, 1, 0.5};
  CHECK_THROWS_AS(momentum.step(w, delta, velocity), dl::Error);
  CHECK_THROWS_AS(momentum.step(w, delta, none), dl::Error);
  velocity.resize(3);
  CHECK_THROWS_AS(OuterOptimizer{}.step(w, delta, velocity), dl::Error);
}

}  // namespace dl::exchange::outer_optimizer_test
