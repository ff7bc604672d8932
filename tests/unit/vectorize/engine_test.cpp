#include "libcore/vectorize/engine.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::engine_test {
namespace {

using Numbers = Engine<int, int>;

// Cuts 0, 1, ..., count - 1.
Numbers::Cut numbers(int count) {
  return [count, next = 0](int& block) mutable {
    block = next;
    return next++ < count;
  };
}

}  // namespace

TEST_CASE("results come in the order of their blocks") {
  for (const int threads : {1, 2, 4, 7}) {
    Numbers engine(threads, numbers(500), [](int& block, int) {
      // Some blocks take longer than those behind them.
      if (block % 7 == 0) std::this_thread::yield();
      return block * block;
    });
    int at = 0;
    while (const auto result = engine.next()) {
      REQUIRE(*result == at * at);
      ++at;
    }
    CHECK(at == 500);
    CHECK_FALSE(engine.next());
  }
}

TEST_CASE("no block is cut while others hold too much") {
  std::atomic<int> held = 0, most = 0;
  Numbers engine(
      4,
      [&, next = 0](int& block) mutable {
        most = std::max<int>(most, ++held);
        block = next;
        return next++ < 50;
      },
      [&](int& block, int) {
        --held;
        return block;
      },
      0, [](const int&) { return Numbers::kMostBytes; });
  int count = 0;
  while (engine.next()) ++count;
  CHECK(count == 50);
  CHECK(most == 1);
}

TEST_CASE("no more blocks are cut than fit") {
  std::atomic<int> cut = 0;
  Numbers engine(
      3,
      [&](int& block) {
        block = cut++;
        return true;
      },
      [](int& block, int) { return block; });
  for (int i = 0; i < 100; ++i) {
    REQUIRE(engine.next() == i);
    CHECK(cut <= i + 1 + 3 * static_cast<int>(Numbers::kAhead));
  }
}

TEST_CASE("an error comes in the place of its block") {
  for (const int threads : {1, 2, 4}) {
    const auto bad_at = [](int bad) {
      return [bad](int& block, int) {
        if (block == bad) bad_data("block " + std::to_string(block));
        return block;
      };
    };
    Numbers working(threads, numbers(100), bad_at(20));
    for (int i = 0; i < 20; ++i) REQUIRE(working.next() == i);
    CHECK(error_of([&] { working.next(); }) == "65: block 20");

    Numbers cutting(
        threads,
        [next = 0](int& block) mutable {
          block = next++;
          if (block == 9) bad_data("cannot cut");
          return true;
        },
        [](int& block, int) { return block; });
    for (int i = 0; i < 9; ++i) REQUIRE(cutting.next() == i);
    CHECK(error_of([&] { cutting.next(); }) == "65: cannot cut");
    Numbers left(threads, numbers(1000), bad_at(-1));
    CHECK(left.next() == 0);  // and nobody asks for the others
  }
}

}  // namespace dl::vectorize::engine_test
