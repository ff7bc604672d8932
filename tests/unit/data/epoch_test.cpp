// Epochs: every example once, in an order that follows from the seed.

#include "libcore/data/epoch.h"

#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "libcore/base/philox.h"

namespace dl::data::epoch_test {

namespace {

using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

std::vector<Place> sequence(Epoch epoch) {
  std::vector<Place> all;
  for (std::int64_t i = 0; i < epoch.batches(); ++i)
    for (const ExampleRun& piece : epoch.pieces(i))
      for (const std::uint32_t example : piece.examples)
        all.emplace_back(piece.shard, piece.record, example);
  return all;
}

Catalogue random_catalogue(Philox& random) {
  Catalogue c;
  c.records.resize(1 + random.below(5));
  for (auto& shard : c.records)
    for (std::uint64_t r = random.below(6); r > 0; --r)
      shard.push_back(static_cast<std::int64_t>(random.below(20)));
  c.records[0].push_back(1);
  return c;
}

}  // namespace

TEST_CASE("an epoch has every example exactly once, whatever the sizes") {
  Philox random(9, 0);
  for (int round = 0; round < 200; ++round) {
    const Catalogue c = random_catalogue(random);
    const auto batch = static_cast<std::int64_t>(1 + random.below(30));
    Epoch epoch(c, batch, 5, 1, round % 2 == 0);
    const auto all = sequence(epoch);
    REQUIRE(static_cast<std::int64_t>(all.size()) == c.examples());
    REQUIRE(std::set<Place>(all.begin(), all.end()).size() == all.size());
    REQUIRE(epoch.examples(0, epoch.batches()) == c.examples());
    REQUIRE(epoch.batches() == c.batches(batch));
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < epoch.batches(); ++i) {
      std::int64_t n = 0;
      for (const ExampleRun& p : epoch.pieces(i))
        n += static_cast<std::int64_t>(p.examples.size());
      REQUIRE(n == epoch.examples(i, 1));
      REQUIRE((n == batch || i == epoch.batches() - 1));
      sum += n;
    }
    REQUIRE(sum == c.examples());
    if (round % 2 == 1) REQUIRE(std::is_sorted(all.begin(), all.end()));
  }
}

TEST_CASE("the order follows from seed and number alone") {
  const Catalogue c{{{50, 60}, {70, 80}}};
  const auto order = [&](std::uint64_t seed, std::uint64_t number) {
    return sequence(Epoch(c, 16, seed, number, true));
  };
  CHECK(order(1, 0) == order(1, 0));
  CHECK(order(1, 0) != order(1, 1));
  CHECK(order(1, 0) != order(2, 0));
  // The batch size cuts the sequence and does not change it.
  CHECK(sequence(Epoch(c, 7, 1, 0, true)) == order(1, 0));
}

TEST_CASE("batches may be asked for in any order, and again") {
  const Catalogue c{{{5, 0, 60, 1}, {7, 80}}};
  Epoch epoch(c, 11, 1, 0, true);
  const auto all = sequence(epoch);
  Philox random(4, 0);
  for (int round = 0; round < 100; ++round) {
    const auto i = static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(epoch.batches())));
    auto want = all.begin() + 11 * i;
    for (const ExampleRun& piece : epoch.pieces(i))
      for (const std::uint32_t example : piece.examples)
        REQUIRE(Place(piece.shard, piece.record, example) == *want++);
  }
}

TEST_CASE("every place of a record is equally likely to come first") {
  const Catalogue c{{{8}}};
  int counts[8] = {};
  for (std::uint64_t number = 0; number < 8000; ++number)
    ++counts[Epoch(c, 1, 3, number, true).pieces(0)[0].examples[0]];
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);
}

}  // namespace dl::data::epoch_test
