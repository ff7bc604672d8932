// The diversity of updates: by hand, and of random ones.

#include "libcore/exchange/rules/gradient_diversity.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::gradient_diversity_test {
namespace {

using Bytes = std::vector<std::byte>;

// Quanta of 1 with these signs.
Bytes message(const std::vector<float>& signs, float threshold = 1) {
  ThresholdEncoder encoder({signs.size()});
  std::vector<float> update;
  for (const float sign : signs) update.push_back(sign * threshold);
  const float thresholds[] = {threshold};
  Bytes out;
  encoder.encode(update, thresholds, out);
  return out;
}

Bytes random_message(std::size_t n, std::uint64_t seed, double same) {
  Philox random(seed, 7), common(1, 1);
  std::vector<float> signs;
  for (std::size_t i = 0; i < n; ++i) {
    const float shared = common.uniform() < 0.5 ? 1 : -1,
                own = random.uniform() < 0.5 ? 1 : -1;
    signs.push_back(random.uniform() < same ? shared : own);
  }
  return message(signs, 0.25F);
}

TEST_CASE("updates that say the same are worth one of them") {
  GradientDiversity diversity(4);
  CHECK(diversity.correlation() == 1);
  const Bytes same = message({1, 0, -1, 1});
  for (std::uint64_t i = 0; i < 5; ++i) diversity.add(same, i);
  CHECK(diversity.compared() == 4);
  CHECK(diversity.correlation() == Approx(1));
  CHECK(GradientDiversity::of(1, 4) == Approx(0.2));
  diversity.forget();
  CHECK(diversity.compared() == 0);
  CHECK(diversity.correlation() == 1);
}

TEST_CASE("updates with nothing in common are worth all of them") {
  GradientDiversity diversity(4);
  diversity.add(message({1, 1, 0, 0}), 0);
  diversity.add(message({0, 0, 1, 1}), 1);
  diversity.add(message({1, -1, 1, -1}), 2);
  CHECK(diversity.correlation() == 0);
  CHECK(GradientDiversity::of(0, 4) == 1);
  // Against each other: no less than that.
  diversity.add(message({-1, 1, -1, 1}), 1);
  CHECK(diversity.correlation() == 0);
}

TEST_CASE("an update that is larger than usual counts less") {
  GradientDiversity diversity(8);
  const Bytes usual = message({1, 1, 0, 0, 0, 0, 0, 0}),
              large = message({1, 1, 1, 1, 1, 1, 1, 1});
  for (int i = 0; i < 20; ++i) diversity.add(usual, 1);
  diversity.add(large, 1);  // they may grow in the beginning
  CHECK(diversity.share_of_size() == 1);
  diversity.forget();
  for (int i = 0; i < 30; ++i) diversity.add(usual, 1);
  CHECK(diversity.share_of_size() == 1);
  diversity.add(large, 1);  // four times the usual square
  CHECK(diversity.share_of_size() == Approx(0.25));
  diversity.add(usual, 1);
  CHECK(diversity.share_of_size() == 1);
  for (int i = 0; i < 100; ++i) diversity.add(large, 1);  // it is usual now
  CHECK(diversity.share_of_size() > 0.99);
}

TEST_CASE("an update is compared with those that it has not seen") {
  GradientDiversity diversity(2);
  diversity.add(message({1, 0}), 0);
  diversity.add(message({1, 0}), 0);  // has seen the first
  CHECK(diversity.compared() == 0);
  diversity.add(message({0, 1}), 1);  // the first counts no more
  CHECK(diversity.compared() == 1);
  CHECK(diversity.correlation() == 0);
  diversity.add(message({0, 1}), 1);
  CHECK(diversity.compared() == 2);
  CHECK(diversity.correlation() == Approx(0.25));  // half of what counts
}

TEST_CASE("the correlation of random updates is found, however many come") {
  const double same = GENERATE(0.0, 0.3, 0.7);
  GradientDiversity diversity(1000);
  for (std::uint64_t i = 0; i < 2000; ++i)
    diversity.add(random_message(1000, i, same), std::min<std::uint64_t>(i, 9));
  CHECK(diversity.correlation() == Approx(same * same).margin(0.02));
}

TEST_CASE("one who has missed more than there were is compared with all") {
  GradientDiversity diversity(2);
  diversity.add(message({1, 1}), 0);
  diversity.add(message({1, 0}), 100);
  CHECK(diversity.correlation() == Approx(1));
  CHECK_THROWS_AS(diversity.add(message({1, 0, 0}), 1), Error);
}

}  // namespace
}  // namespace dl::exchange::gradient_diversity_test
