// The threshold code: no mass is lost, the size is near the entropy, and
// nothing damaged is accepted or changes anything.

#include "libcore/exchange/threshold.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/exchange/select.h"

using namespace dl;
using namespace dl::exchange;

namespace {

using Bytes = std::vector<std::byte>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Multiples of 2^-10 in (-range, range), of which `density` are not 0.
std::vector<float> dyadic(Philox& random, std::size_t n, double density,
                          unsigned range = 4) {
  std::vector<float> x(n);
  for (float& v : x) {
    if (random.uniform() >= density) continue;
    auto steps = static_cast<int>(random.below(2048 * range)) -
                 static_cast<int>(1024 * range);
    v = std::ldexp(static_cast<float>(steps), -10);
  }
  return x;
}

std::string error_of(const Bytes& message, std::size_t elements) {
  std::vector<float> target(elements, 0.5F), before = target;
  try {
    decode_threshold(message, 1, target);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kProtocol);
    REQUIRE(target == before);  // nothing was changed
    return error.what();
  }
  return "";
}

// n elements of which exactly `quanta` reach 1, at random places and signs.
std::vector<float> with_quanta(Philox& random, std::size_t n,
                               std::size_t quanta) {
  std::vector<float> x(n, 0.25F);
  for (std::size_t i = 0; i < quanta; ++i) x[i] = random() % 2 ? 1.5F : -1.5F;
  shuffle(std::span(x), random);
  return x;
}

}  // namespace

TEST_CASE("updates add up in the residual") {
  std::vector<float> residual(37, 0.25F), update(37);
  for (std::size_t i = 0; i < update.size(); ++i)
    update[i] = static_cast<float>(i);
  accumulate(residual, update);
  accumulate(residual, update);
  for (std::size_t i = 0; i < update.size(); ++i)
    CHECK(residual[i] == 0.25F + 2 * static_cast<float>(i));
  CHECK_THROWS_AS(accumulate(std::span(residual).first(36), update), dl::Error);
}

TEST_CASE("the golden vector: which elements are sent, and what stays") {
  std::vector<float> r = {0.5F, -0.2F, 0.9F, -1.1F, 0.05F, -0.3F, 0.3F, -0.5F};
  Bytes message;
  REQUIRE(encode_threshold(r, 0.5F, message) == 4);
  std::vector<float> sent(8);
  decode_threshold(message, 1, sent);
  CHECK(sent == std::vector<float>{0.5F, 0, 0.5F, -0.5F, 0, 0, 0, -0.5F});
  CHECK(r == std::vector<float>{0, -0.2F, 0.9F - 0.5F, -1.1F + 0.5F, 0.05F,
                                -0.3F, 0.3F, 0});
}

TEST_CASE("mass is conserved to the last bit across sparse and dense codes") {
  Philox random(7, 1);
  for (std::size_t n : {1U, 5U, 63U, 64U, 65U, 1000U, 4096U}) {
    std::vector<float> residual(n), updates(n), applied(n), clipped(n);
    int sparse = 0, dense = 0;
    for (int step = 0; step < 60; ++step) {
      double density = std::pow(random.uniform(), 3);
      std::vector<float> update = dyadic(random, n, density);
      for (std::size_t i = 0; i < n; ++i) {
        residual[i] += update[i];
        updates[i] += update[i];
      }
      float threshold = std::ldexp(1.0F, -static_cast<int>(random.below(6)));
      Bytes message;
      auto expected = count_over(residual, threshold);
      REQUIRE(encode_threshold(residual, threshold, message) == expected);
      ThresholdInfo info = inspect_threshold(message);
      CHECK(info.quanta == static_cast<std::uint64_t>(expected));
      ++(info.dense ? dense : sparse);
      decode_threshold(message, 1, applied);
      if (step % 5 == 4) {
        std::vector<float> before = residual;
        double cut = clip_residual(residual, 4 * threshold);
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          clipped[i] += before[i] - residual[i];
          sum += std::fabs(before[i] - residual[i]);
        }
        REQUIRE(cut == sum);  // both exact
      }
    }
    if (n > 60) {
      CHECK(sparse > 0);
      CHECK(dense > 0);
    }
    for (std::size_t i = 0; i < n; ++i)
      REQUIRE(applied[i] + residual[i] + clipped[i] == updates[i]);
  }
}

TEST_CASE("peers that apply in any order agree on dyadic values") {
  Philox random(8, 1);
  constexpr std::size_t kN = 777;
  std::vector<Bytes> messages;
  for (int peer = 0; peer < 12; ++peer) {
    std::vector<float> r = dyadic(random, kN, peer % 2 ? 0.02 : 1.0);
    encode_threshold(r, 0.25F, messages.emplace_back());
  }
  std::vector<float> first(kN);
  for (const Bytes& m : messages) decode_threshold(m, 0.5F, first);
  for (int round = 0; round < 10; ++round) {
    shuffle(std::span(messages), random);
    std::vector<float> target(kN);
    for (const Bytes& m : messages) decode_threshold(m, 0.5F, target);
    REQUIRE(target == first);
  }
}

TEST_CASE("bits per quantum are within 1.02 of the entropy") {
  Philox random(9, 1);
  for (double density : {1e-4, 3e-4, 1e-3, 3.6e-3, 1e-2, 2.2e-2, 1.0 / 16}) {
    constexpr std::size_t kN = 4'000'000;
    auto quanta = static_cast<std::size_t>(density * kN);
    std::vector<float> x = with_quanta(random, kN, quanta);
    Bytes message;
    REQUIRE(encode_threshold(x, 1, message) ==
            static_cast<std::int64_t>(quanta));
    double p = static_cast<double>(quanta) / kN;
    double entropy = 1 + (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p;
    double bits = 8.0 *
                  static_cast<double>(message.size() - kThresholdHeaderBytes) /
                  static_cast<double>(quanta);
    INFO("density " << density << ": " << bits << " bits, entropy " << entropy);
    CHECK(bits <= 1.02 * entropy);
    CHECK(bits > 0.99 * entropy);  // else the yardstick is wrong
  }
}

TEST_CASE("a message is never longer than the dense code, 1.6 bits a element") {
  Philox random(10, 1);
  constexpr std::size_t kN = 10'000;
  for (int percent = 0; percent <= 100; percent += 5) {
    std::size_t quanta = kN * static_cast<std::size_t>(percent) / 100;
    std::vector<float> x(kN, 0.0F);
    // The worst case for gaps: all quanta at the end.
    for (std::size_t i = kN - quanta; i < kN; ++i) x[i] = 1;
    Bytes message;
    encode_threshold(x, 1, message);
    INFO(percent << " % of the elements");
    CHECK(message.size() <= kThresholdHeaderBytes + kN / 5 + 8);
    CHECK(inspect_threshold(message).dense == (percent > 60));
  }
}

TEST_CASE("selection: every length, the edges of comparison") {
  Philox random(11, 1);
  for (std::size_t n = 0; n < 300; ++n) {
    std::vector<float> x(n);
    std::int64_t want = 0;
    for (float& v : x) {
      const float kinds[] = {0,
                             -0.0F,
                             1,
                             -1,
                             std::nextafter(1.0F, 0.0F),
                             -std::nextafter(1.0F, 0.0F),
                             kInf,
                             -kInf,
                             kNan,
                             -kNan};
      v = kinds[random.below(10)];
      want += std::fabs(v) >= 1;
    }
    std::vector<std::uint64_t> masks((n + 63) / 64, ~std::uint64_t{0});
    REQUIRE(select_over(x, 1, masks) == want);
    REQUIRE(count_over(x, 1) == want);
    for (const auto& way : select_ways()) {
      std::vector<std::uint64_t> words(n / 64);
      way.select(x.data(), 1, words.data(), words.size());
      INFO(way.name);
      REQUIRE(std::equal(words.begin(), words.end(), masks.begin()));
    }
    for (std::size_t i = 0; i < 64 * masks.size(); ++i)
      REQUIRE((masks[i / 64] >> (i % 64) & 1) ==
              (i < n && std::fabs(x[i]) >= 1));
  }
}

TEST_CASE("messages of no quantum, of one, and of no element") {
  Bytes none;
  std::vector<float> x(100, 0.1F), target(100);
  CHECK(encode_threshold(x, 1, none) == 0);
  CHECK(none.size() == kThresholdHeaderBytes);
  decode_threshold(none, 1, target);
  CHECK(target == std::vector<float>(100));
  CHECK(x == std::vector<float>(100, 0.1F));

  Bytes one;
  x[99] = -1;
  CHECK(encode_threshold(x, 1, one) == 1);
  decode_threshold(one, 2, target);
  CHECK(target[99] == -2);

  Bytes empty;
  CHECK(encode_threshold({}, 1, empty) == 0);
  CHECK(error_of(empty, 0).empty());
  CHECK(error_of(empty, 1) == "damaged update: it is for 0 elements, not 1");
}

TEST_CASE("the symbols are symmetric") {
  Philox random(12, 1);
  for (double density : {0.01, 1.0}) {
    std::vector<float> x = dyadic(random, 500, density), y = x;
    for (float& v : y) v = -v;
    Bytes a, b;
    encode_threshold(x, 0.5F, a);
    encode_threshold(y, 0.5F, b);
    std::vector<float> from_a(500), from_b(500);
    decode_threshold(a, 1, from_a);
    decode_threshold(b, -1, from_b);
    CHECK(from_a == from_b);
    for (float& v : y) v = -v;
    CHECK(x == y);
  }
}

TEST_CASE("damaged headers and codes are refused") {
  Philox random(13, 1);
  auto patched = [](Bytes message, std::size_t at, auto value) {
    std::memcpy(message.data() + at, &value, sizeof value);
    return message;
  };
  for (std::size_t quanta : {30U, 900U}) {
    std::vector<float> x = with_quanta(random, 1000, quanta);
    Bytes good;
    encode_threshold(x, 1, good);
    REQUIRE(error_of(good, 1000).empty());
    CHECK_FALSE(error_of(good, 999).empty());
    CHECK_FALSE(error_of(good, 1001).empty());
    for (std::size_t n = 0; n < good.size(); ++n)  // cut anywhere
      CHECK_FALSE(error_of({good.begin(), good.begin() + n}, 1000).empty());
    Bytes longer = good;
    longer.push_back(std::byte{0});
    CHECK_FALSE(error_of(longer, 1000).empty());
    for (float bad : {kInf, kNan, 0.0F, -1.0F})
      CHECK_FALSE(error_of(patched(good, 4, bad), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 0, std::uint8_t{2}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 1, std::uint8_t{2}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 2, std::uint8_t{32}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 3, std::uint8_t{1}), 1000).empty());
    for (std::uint64_t q : {quanta - 1, quanta + 1})
      CHECK_FALSE(error_of(patched(good, 16, q), 1000).empty());
    for (std::uint64_t huge : {UINT64_MAX, UINT64_MAX / 2})
      CHECK_FALSE(error_of(patched(good, 16, huge), 1000).empty());
  }
}

TEST_CASE("random bytes: refused without harm, or a valid update") {
  Philox random(14, 1);
  std::vector<float> x = with_quanta(random, 500, 40);
  Bytes good;
  encode_threshold(x, 1, good);
  int accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    Bytes message = good;
    if (round % 4 == 0) message.resize(random.below(200));
    for (int k = 0; k < 3 && !message.empty(); ++k)
      message[random.below(message.size())] = static_cast<std::byte>(random());
    std::vector<float> target(500), before = target;
    try {
      decode_threshold(message, 1, target);
      ++accepted;
      ThresholdInfo info = inspect_threshold(message);
      std::int64_t moved = 0;
      for (float v : target) moved += std::fabs(v) == info.threshold;
      REQUIRE(moved == static_cast<std::int64_t>(info.quanta));
    } catch (const Error&) {
      REQUIRE(target == before);
    }
  }
  CHECK(accepted > 0);  // a changed sign is no damage to this layer
  CHECK(accepted < 25'000);
}

TEST_CASE("clipping counts what it cuts and leaves the rest alone") {
  std::vector<float> r = {0.5F, -3, 2, -2, 7, kNan};
  CHECK(clip_residual(r, 2) == 6);
  CHECK(r[0] == 0.5F);
  CHECK(r[1] == -2);
  CHECK(r[4] == 2);
  CHECK(std::isnan(r[5]));
}

TEST_CASE("a threshold that is no positive number is our bug") {
  std::vector<float> r = {1};
  Bytes out;
  for (float bad : {0.0F, -1.0F, kInf, kNan})
    CHECK_THROWS_AS(encode_threshold(r, bad, out), Error);
  CHECK(out.empty());
}
