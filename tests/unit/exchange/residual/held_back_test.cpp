// Tests of libcore/exchange/residual/held_back.h.

#include "libcore/exchange/residual/held_back.h"

#include <catch2/catch.hpp>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::held_back_test {

using Floats = std::vector<float>;

namespace {

// Quanta of 2 where the values are 2 or more.
std::vector<std::byte> message_of(Floats values) {
  std::vector<std::byte> message;
  encode_threshold(values, 2, message);
  return message;
}

void hear(HeldBack& held_back, const std::vector<std::byte>& message,
          const Floats& residual, std::int64_t workers) {
  if (held_back.listens(workers))
    held_back.hear(
        overlap_of(message, residual.size(),
                   [&residual](std::uint64_t i) { return residual[i]; }));
}

}  // namespace

TEST_CASE("the guess of what others hold back follows what they send") {
  const auto message = message_of({3, -2, 0, 1.5F});
  // After so many rounds of 16 workers.
  const auto times = [&](const Floats& residual, int rounds) {
    HeldBack held_back;
    for (int i = 0; i < rounds * 15; ++i)
      hear(held_back, message, residual, 16);
    return held_back.times(16);
  };
  CHECK(times({2, -2, 7, 7}, 0) == 0);  // nobody was heard
  CHECK(times({2, -2, 7, 7}, 1000) == Approx(15));
  CHECK(times({1, -1, 7, 7}, 1000) == Approx(15 * 0.5));
  CHECK(times({0, 0, 7, 7}, 1000) == 0);
  CHECK(times({-2, 2, 7, 7}, 1000) == 0);           // the opposite
  CHECK(times({5, -5, 0, 0}, 1000) == Approx(15));  // more than what is sent
  // It is trusted more and more.
  CHECK(times({2, -2, 7, 7}, 1) < 1);
  CHECK(times({2, -2, 7, 7}, 32) == Approx(15 * 0.632).epsilon(0.01));
}

TEST_CASE("the guess follows what was heard of late, and how many there are") {
  HeldBack held_back;
  const auto hear_for = [&](float residual, int rounds) {
    for (int i = 0; i < rounds * 15; ++i)
      hear(held_back, message_of({2}), {residual}, 16);
  };
  hear_for(2, 1000);
  hear_for(0, 20);
  CHECK(held_back.times(16) < 0.1);
  hear_for(1, 20);
  CHECK(held_back.times(31) == Approx(2 * held_back.times(16)));
  CHECK(held_back.times(1) == 0);
  held_back.forget();
  CHECK(held_back.times(16) == 0);
  hear(held_back, message_of({1}), {1}, 16);  // a message without quanta
  CHECK(held_back.times(16) == 0);
}

TEST_CASE("what is no message of as many elements tells nothing") {
  const auto message = message_of(Floats(100, 2));
  const auto none = [](std::uint64_t) { return 0.0F; };
  CHECK_THROWS_AS(overlap_of(std::span(message).first(14), 100, none),
                  dl::Error);
  CHECK_THROWS_AS(overlap_of(message, 99, none), dl::Error);
}

}  // namespace dl::exchange::held_back_test
