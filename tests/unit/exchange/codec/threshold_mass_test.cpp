// No mass is lost: peers of a vector in parts, whose messages are applied in
// any order, refused, sparse or dense; all values are dyadic, so sums are
// exact.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::exchange::threshold_mass_test {

using dl::tensor::HitWord;
using dl::tensor::most_words;
using dl::tensor::take_ways;
using dl::tensor::TakeWay;

namespace {

using Bytes = std::vector<std::byte>;

const std::vector<std::size_t> kParts = {1, 300, 64, 2000, 777};
constexpr std::size_t kN = 1 + 300 + 64 + 2000 + 777;

// Multiples of 2^-10, of another density in each part.
std::vector<float> dyadic(Philox& random) {
  std::vector<float> x;
  for (const std::size_t part : kParts) {
    const double density = std::pow(random.uniform(), 4);
    for (std::size_t i = 0; i < part; ++i)
      x.push_back(
          random.uniform() < density
              ? std::ldexp(static_cast<float>(random.below(4097)) - 2048, -10)
              : 0);
  }
  return x;
}

// One who adds its updates to a residual and sends what exceeds thresholds.
struct Peer {
  ThresholdEncoder encoder{kParts};
  std::vector<double> updates = std::vector<double>(kN);
  std::vector<double> clipped = std::vector<double>(kN);
  std::vector<float> parameters = std::vector<float>(kN);
  std::vector<std::size_t> order;  // of the messages that it applies

  Bytes step(Philox& random) {
    const std::vector<float> update = dyadic(random);
    for (std::size_t i = 0; i < kN; ++i)
      updates[i] += static_cast<double>(update[i]);
    std::vector<float> thresholds;
    for (std::size_t p = 0; p < kParts.size(); ++p)
      thresholds.push_back(
          std::ldexp(1.0F, -static_cast<int>(random.below(9))));
    Bytes message;
    // The update is added here or by the encoder.
    const bool before = random.below(4) == 0;
    if (before) accumulate(encoder.residual(), update);
    const auto sent = encoder.encode(before ? std::span<const float>() : update,
                                     thresholds, message);
    CHECK(inspect_threshold(message).quanta ==
          static_cast<std::uint64_t>(sent));
    return message;
  }
  void clip(float limit) {
    const std::vector<float> before(encoder.residual().begin(),
                                    encoder.residual().end());
    const double cut = clip_residual(encoder.residual(), limit).size;
    double sum = 0;
    for (std::size_t i = 0; i < kN; ++i) {
      const double gone = static_cast<double>(before[i]) -
                          static_cast<double>(encoder.residual()[i]);
      clipped[i] += gone;
      sum += std::fabs(gone);
    }
    CHECK(cut == sum);
  }
};

}  // namespace

TEST_CASE("mass: what is applied, kept and clipped is what was meant") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Philox random(41, seed);
    std::vector<Peer> peers(4);
    std::vector<Bytes> accepted;
    int refused = 0;
    std::size_t dense = 0, shortest = SIZE_MAX;
    for (int step = 0; step < 60; ++step) {
      Peer& peer = peers[random.below(peers.size())];
      const Bytes message = peer.step(random);
      dense += message.size() > kN / 6;
      shortest = std::min(shortest, message.size());
      if (random.below(5) == 0) {
        decode_threshold(message, 1, peer.encoder.residual());
        ++refused;
      } else {
        accepted.push_back(message);
      }
      if (random.below(6) == 0) peer.clip(std::ldexp(1.0F, -2));
    }
    CHECK(refused > 0);
    CHECK(dense > 0);
    CHECK(shortest < 400);

    // Everybody applies all of them, each in an order of its own.
    std::vector<double> meant(kN), kept(kN);
    for (Peer& peer : peers) {
      std::vector<Bytes> mine = accepted;
      shuffle(std::span(mine), random);
      for (const Bytes& message : mine)
        decode_threshold(message, 1, peer.parameters);
      for (std::size_t i = 0; i < kN; ++i) {
        meant[i] += peer.updates[i];
        kept[i] +=
            peer.clipped[i] + static_cast<double>(peer.encoder.residual()[i]);
      }
    }
    for (const Peer& peer : peers)
      REQUIRE(peer.parameters == peers[0].parameters);
    for (std::size_t i = 0; i < kN; ++i)
      REQUIRE(static_cast<double>(peers[0].parameters[i]) + kept[i] ==
              meant[i]);
  }
}

TEST_CASE("mass: the sum of what is given rides on the pass, in every way") {
  Philox random(43, 1);
  ThresholdEncoder encoder(kParts);
  double want = 0;
  for (int step = 0; step < 20; ++step) {
    const std::vector<float> update = dyadic(random);
    double sum = 0;
    for (const float x : update) sum += static_cast<double>(x);
    const std::vector<float> thresholds(kParts.size(), 0.25F);
    Bytes message;
    if (step % 3 == 0) {
      encoder.encode(update, thresholds, message);
    } else if (step % 3 == 1) {
      encoder.begin(thresholds);
      std::size_t at = 0;
      for (const std::size_t part : kParts) {
        encoder.take(at, std::span(update).subspan(at, part));
        at += part;
      }
      encoder.finish(message);
    } else {
      CHECK(accumulate(encoder.residual(), update) == sum);
      continue;
    }
    want += sum;
    CHECK(encoder.given() == want);
    // The description of a message matches its contents.
    std::vector<float> dense(kN);
    decode_threshold(message, 1, dense);
    CHECK(inspect_threshold(message).mass.sum == mass_of(dense).sum);
    CHECK(inspect_threshold(message).mass.size == mass_of(dense).size);
  }
  std::vector<float> r(640), x(640);
  for (float& v : x) v = static_cast<float>(random.below(9)) - 3;
  std::vector<HitWord> words(most_words(r.size()));
  for (const TakeWay& way : take_ways()) {
    double given = 1;
    way.take(r.data(), x.data(), 1, r.size() / 64, 0, words.data(), given);
    CHECK(given == 1 + mass_of(x).sum);
    way.take(r.data(), nullptr, 1, r.size() / 64, 0, words.data(), given);
    CHECK(given == 1 + mass_of(x).sum);
  }
}

TEST_CASE("mass: the form, sparse or dense, says the same of the same quanta") {
  // A part that is almost dense enough, and the same with a few more.
  for (const std::size_t chosen : {590U, 599U, 601U, 610U, 1000U}) {
    ThresholdEncoder encoder({1000});
    std::vector<float> update(1000), want(1000);
    for (std::size_t i = 0; i < chosen; ++i) {
      update[999 - i] = i % 3 ? 1.25F : -1.5F;
      want[999 - i] = i % 3 ? 1 : -1;
    }
    Bytes message;
    encoder.encode(update, std::vector<float>{1}, message);
    std::vector<float> sent(1000);
    decode_threshold(message, 1, sent);
    CHECK(sent == want);
    for (std::size_t i = 0; i < 1000; ++i)
      REQUIRE(encoder.residual()[i] + sent[i] == update[i]);
  }
}

}  // namespace dl::exchange::threshold_mass_test
