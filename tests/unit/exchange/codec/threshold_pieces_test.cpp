// The threshold code by pieces: whatever threads take them in whatever order,
// the message and the residual are those of one pass.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::threshold_pieces_test {

namespace {

using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

const std::vector<std::size_t> kParts = {300, 40000, 1, 2500};
constexpr std::size_t kElements = 42801;
const Floats kThresholds = {0.5F, 1.5F, 0.25F, 0.125F};

Floats random_update(Philox& random) {
  Floats update(kElements);
  for (float& u : update) {
    const auto steps = static_cast<int>(random.below(4096)) - 2048;
    u = std::ldexp(static_cast<float>(steps), -10);
  }
  return update;
}

struct Piece {
  std::size_t at, elements;
};

// Cuts the parts at random places, and shuffles what comes of it.
std::vector<Piece> pieces_of(Philox& random) {
  std::vector<Piece> pieces;
  std::size_t start = 0;
  for (const std::size_t part : kParts) {
    for (std::size_t at = 0, n = 0; at < part; at += n) {
      n = std::min<std::size_t>(part - at, 1 + random.below(20000));
      pieces.push_back({start + at, n});
    }
    start += part;
  }
  shuffle(std::span(pieces), random);
  return pieces;
}

void take_all(ThresholdEncoder& encoder, std::span<const Piece> pieces,
              std::span<const float> update, std::size_t threads) {
  std::vector<std::thread> takers;
  for (std::size_t t = 0; t < threads; ++t)
    takers.emplace_back([&, t] {
      for (std::size_t p = t; p < pieces.size(); p += threads)
        encoder.take(pieces[p].at,
                     update.subspan(pieces[p].at, pieces[p].elements));
    });
  for (std::thread& taker : takers) taker.join();
}

Floats copy(std::span<const float> x) { return {x.begin(), x.end()}; }

}  // namespace

TEST_CASE("pieces give the message and the residual of one pass") {
  Philox random(11, 3);
  ThresholdEncoder whole(kParts), cut(kParts);
  for (int step = 0; step < 12; ++step) {
    const Floats update = random_update(random);
    Bytes message, same;
    const auto quanta = whole.encode(update, kThresholds, message);
    cut.begin(kThresholds);
    take_all(cut, pieces_of(random), update, 1 + random.below(3));
    CHECK(cut.finish(same) == quanta);
    CHECK(same == message);
    CHECK(std::ranges::equal(cut.quanta(), whole.quanta()));
    CHECK(std::ranges::equal(cut.residual(), whole.residual()));
  }
}

TEST_CASE("what was taken is given back") {
  Philox random(12, 3);
  ThresholdEncoder encoder(kParts);
  Bytes message;
  encoder.encode(random_update(random), kThresholds, message);
  const Floats before = copy(encoder.residual());
  const Floats update = random_update(random);
  auto pieces = pieces_of(random);
  pieces.pop_back();  // one was not finite
  encoder.begin(kThresholds);
  take_all(encoder, pieces, update, 2);
  CHECK(copy(encoder.residual()) != before);
  encoder.undo(update);
  CHECK(copy(encoder.residual()) == before);  // the values are dyadic
}

TEST_CASE("pieces that are no update are our bug") {
  ThresholdEncoder encoder(kParts);
  const Floats update(kElements);
  const auto piece = [&](std::size_t at, std::size_t n) {
    encoder.take(at, std::span(update).subspan(at, n));
  };
  encoder.begin(kThresholds);
  CHECK_THROWS_AS(piece(299, 2), Error);  // of two parts
  CHECK_THROWS_AS(encoder.begin(std::span(kThresholds).first(3)), Error);
  encoder.begin(kThresholds);
  piece(0, 300);
  Bytes message;
  CHECK_THROWS_AS(encoder.finish(message), Error);  // there is more
}

}  // namespace dl::exchange::threshold_pieces_test
