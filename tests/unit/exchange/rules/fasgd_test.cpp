// Tests of libcore/exchange/rules/fasgd.h.

#include "libcore/exchange/rules/fasgd.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::fasgd_test {

namespace {

// A message with +quantum at the elements for which `sends` says so.
template <typename Sends>
std::vector<std::byte> message(std::size_t n, float quantum, Sends sends) {
  std::vector<float> residual(n);
  for (std::size_t i = 0; i < n; ++i) residual[i] = sends(i) ? quantum : 0;
  std::vector<std::byte> out;
  encode_threshold(residual, quantum, out);
  return out;
}

constexpr std::size_t kElements = 1000;

}  // namespace

TEST_CASE("updates of even size are applied as they are") {
  Fasgd rule(kElements);
  std::vector<float> target(kElements);
  const auto all = message(kElements, 0.25F, [](std::size_t) { return true; });
  for (int i = 1; i <= 50; ++i) {
    rule.apply(all, -1, target);
    CHECK(target[7] == Approx(-0.25 * i).epsilon(1e-4));
    CHECK(target[999] == target[7]);
  }
  rule.apply(all, -0.5F, target);
  CHECK(target[0] == Approx(-0.25 * 50.5).epsilon(1e-4));
}

TEST_CASE("what moves much takes smaller steps than what moves seldom") {
  Fasgd rule(kElements);
  std::vector<float> target(kElements);
  std::vector<float> before;
  for (int i = 0; i < 200; ++i) {
    before = target;
    const bool seldom = i % 10 == 9;
    rule.apply(message(kElements, 0.5F,
                       [&](std::size_t j) { return j < 500 || seldom; }),
               1, target);
  }
  const float often = target[0] - before[0];
  const float rare = target[999] - before[999];
  CHECK(often > 0);
  CHECK(rare > 3 * often);
  CHECK(rare < 11.01F * 0.5F);  // eps bounds it
}

TEST_CASE("a replica that takes over the state goes on the same") {
  Fasgd a(kElements), b(kElements);
  std::vector<float> x(kElements), y;
  const auto at = [](int step) {
    return message(kElements, 0.125F * static_cast<float>(1 + step % 3),
                   [=](std::size_t j) { return (j * 7 + step) % 11 < 3; });
  };
  for (int i = 0; i < 30; ++i) a.apply(at(i), 0.5F, x);
  b.restore(a.state());
  y = x;
  for (int i = 30; i < 60; ++i) {
    a.apply(at(i), 0.5F, x);
    b.apply(at(i), 0.5F, y);
  }
  CHECK(x == y);
  CHECK(a.state() == b.state());
}

TEST_CASE("what is damaged changes nothing") {
  Fasgd rule(kElements);
  std::vector<float> target(kElements);
  const auto all = message(kElements, 1, [](std::size_t) { return true; });
  auto cut = all;
  cut.pop_back();
  const auto untouched = rule.state();
  CHECK_THROWS_AS(rule.apply(cut, 1, target), dl::Error);
  CHECK_THROWS_AS(
      rule.apply(message(8, 1, [](std::size_t) { return true; }), 1, target),
      dl::Error);
  CHECK(rule.state() == untouched);
  CHECK(target == std::vector<float>(kElements));
  auto state = rule.state();
  state.pop_back();
  CHECK_THROWS_AS(rule.restore(state), dl::Error);
  state = rule.state();
  state.back() = -1;  // touched in the future
  CHECK_THROWS_AS(rule.restore(state), dl::Error);
}

}  // namespace dl::exchange::fasgd_test
