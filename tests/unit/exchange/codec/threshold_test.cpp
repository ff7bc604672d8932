// The threshold code: no mass is lost, the size is near the entropy, and
// nothing damaged is accepted or changes anything.

#include "libcore/exchange/codec/threshold.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/tensor/threshold_select.h"

namespace dl::exchange::threshold_test {

using dl::tensor::HitWord;
using dl::tensor::most_words;
using dl::tensor::take_ways;

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

// Most bytes around the code of a message of one part: header, and the part's
// skip, elements, quanta (4 bytes at most here), form and threshold.
constexpr std::size_t kOnePartBytes = kThresholdHeaderBytes + 1 + 4 + 4 + 1 + 4;

bool is_dense(const Bytes& message) {
  HeadReader head(message);
  head.take(kThresholdHeaderBytes);
  head.varint();
  head.varint();
  head.varint();
  return head.get<std::uint8_t>() == kDenseForm;
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
      const auto expected = std::ranges::count_if(
          residual, [&](float r) { return std::fabs(r) >= threshold; });
      REQUIRE(encode_threshold(residual, threshold, message) == expected);
      CHECK(inspect_threshold(message).quanta ==
            static_cast<std::uint64_t>(expected));
      if (expected > 0) ++(is_dense(message) ? dense : sparse);
      decode_threshold(message, 1, applied);
      if (step % 5 == 4) {
        std::vector<float> before = residual;
        double cut = clip_residual(residual, 4 * threshold).size;
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
  // 0.0583 is the worst for Golomb-Rice codes here.
  for (double density :
       {1e-4, 3e-4, 1e-3, 3.6e-3, 1e-2, 2.2e-2, 0.0583, 1.0 / 16}) {
    constexpr std::size_t kN = 4'000'000;
    auto quanta = static_cast<std::size_t>(density * kN);
    std::vector<float> x = with_quanta(random, kN, quanta);
    Bytes message;
    REQUIRE(encode_threshold(x, 1, message) ==
            static_cast<std::int64_t>(quanta));
    double p = static_cast<double>(quanta) / kN;
    double entropy = 1 + (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p;
    double bits = 8.0 * static_cast<double>(message.size() - kOnePartBytes) /
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
    CHECK(message.size() <= kOnePartBytes + kN / 5 + 8);
    if (percent > 0) CHECK(is_dense(message) == (percent > 60));
  }
}

TEST_CASE("the pass: every way, every length, the edges of comparison") {
  Philox random(11, 1);
  for (std::size_t n = 0; n < 300; ++n) {
    std::vector<float> r(n), update(n);
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
    for (float& v : r) v = kinds[random.below(10)];
    for (float& v : update) v = 2 * kinds[random.below(10)];
    const bool with_update = n % 3 != 0;
    std::vector<float> want = r;
    std::vector<std::size_t> hits;
    for (std::size_t i = 0; i < n; ++i) {
      if (with_update) want[i] += update[i];
      if (!(std::fabs(want[i]) >= 1)) continue;
      hits.push_back(i);
      want[i] = std::copysign(std::fabs(want[i]) - 1, want[i]);
    }
    const auto same = [](const std::vector<float>& a,
                         const std::vector<float>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
        return x == y ? std::signbit(x) == std::signbit(y)
                      : std::isnan(x) && std::isnan(y);
      });
    };
    const auto check = [&](std::span<const HitWord> words) {
      std::vector<std::size_t> found;
      for_each_hit(words, [&](std::size_t i) { found.push_back(i); });
      REQUIRE(found == hits);
      REQUIRE(count_hits(words) == hits.size());
    };
    std::vector<HitWord> words(most_words(n));
    std::vector<float> x = r;
    double given = 0;
    check(std::span(words).first(take_over(
        x, with_update ? std::span<const float>(update) : std::span<float>(), 1,
        0, words.data(), given)));
    REQUIRE(same(x, want));
    if (!with_update)
      check(std::span(words).first(select_over(r, 1, words.data())));
    if (n % 64 != 0) continue;
    for (const auto& way : take_ways()) {
      INFO(way.name);
      x = r;
      check(std::span(words).first(
          way.take(x.data(), with_update ? update.data() : nullptr, 1, n / 64,
                   0, words.data(), given)));
      REQUIRE(same(x, want));
      if (!with_update)
        check(std::span(words).first(
            way.select(r.data(), 1, n / 64, 0, words.data())));
    }
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
    // Version, zero, segments, elements.
    CHECK_FALSE(error_of(patched(good, 0, std::uint8_t{2}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 1, std::uint8_t{1}), 1000).empty());
    for (std::uint16_t segments : {0, 2, 65535})
      CHECK_FALSE(error_of(patched(good, 2, segments), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 4, UINT64_MAX), 1000).empty());
    // Skip (1 byte), elements (2), quanta (1 or 2), form, threshold.
    const std::size_t form = 15 + (quanta < 128 ? 1 : 2);
    CHECK_FALSE(error_of(patched(good, 12, std::uint8_t{1}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 13, std::uint8_t{0x7f}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, 15, std::uint8_t{0}), 1000).empty());
    CHECK_FALSE(error_of(patched(good, form, std::uint8_t{32}), 1000).empty());
    for (float bad : {kInf, kNan, 0.0F, -1.0F})
      CHECK_FALSE(error_of(patched(good, form + 1, bad), 1000).empty());
    auto one = std::to_integer<unsigned>(good[15]);
    for (unsigned q : {one - 1, one + 1})
      CHECK_FALSE(
          error_of(patched(good, 15, static_cast<std::uint8_t>(q)), 1000)
              .empty());
    std::vector<float> target(1000), before = target;
    CHECK_THROWS_AS(decode_threshold(patched(good, form + 1, 3e38F), 2, target),
                    Error);
    CHECK(target == before);
  }
}

TEST_CASE("numbers that overflow are refused") {
  // One segment, whose skip, elements or quanta take more than 63 bits, or are
  // written longer than they need to be.
  const auto with = [](const std::vector<int>& tail) {
    Bytes message;
    append(message, std::uint32_t{0x00010001});
    append(message, std::uint64_t{1000});
    for (int byte : tail) message.push_back(static_cast<std::byte>(byte));
    for (int i = 0; i < 40; ++i) message.push_back(std::byte{0xff});
    return message;
  };
  const std::vector<int> huge(12, 0xff);
  for (std::size_t field = 0; field < 3; ++field) {
    std::vector<int> tail(field, 1);
    tail.insert(tail.end(), huge.begin(), huge.end());
    CHECK_FALSE(error_of(with(tail), 1000).empty());
    tail.resize(field);
    tail.insert(tail.end(), {0x81, 0x00, 1, 1, 1});
    CHECK_THAT(error_of(with(tail), 1000), Catch::Contains("too long"));
  }
  // A gap of more than 2^64: zeros to the end of a long message.
  Bytes message = with({0, 1, 1, 31, 0, 0, 0x80, 0x3f});
  message.resize(60);
  message.resize(4096);
  CHECK_FALSE(error_of(message, 1000).empty());
}

TEST_CASE("random bytes: refused without harm, or a valid update") {
  Philox random(14, 1);
  ThresholdEncoder encoder({100, 300, 100});
  std::vector<float> x = with_quanta(random, 500, 40);
  Bytes good;
  encoder.encode(x, std::vector<float>{1, 1.25F, 1.5F}, good);
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
      std::vector<float> again(500);
      std::uint64_t moved = 0;
      for_each_quantum(message, [&](std::uint64_t i, float value) {
        REQUIRE(again[i] == 0);  // an element has at most one
        again[i] = value;
        ++moved;
      });
      REQUIRE(again == target);
      REQUIRE(moved == inspect_threshold(message).quanta);
    } catch (const Error&) {
      REQUIRE(target == before);
    }
  }
  CHECK(accepted > 0);  // a changed sign is no damage to this layer
  CHECK(accepted < 25'000);
}

TEST_CASE(
    "the code does not depend on where the vector lies or what came before") {
  Philox random(15, 1);
  std::vector<float> x = with_quanta(random, 20'000, 300);
  Bytes want;
  std::vector<float> copy = x;
  encode_threshold(copy, 1, want);
  for (std::size_t lead = 0; lead < 17; ++lead) {
    std::vector<float> shifted(lead);
    shifted.insert(shifted.end(), x.begin(), x.end());
    Bytes message;
    encode_threshold(std::span(shifted).subspan(lead), 1, message);
    REQUIRE(message == want);
    // All of them: every word of the pass has a hit.
    ThresholdEncoder encoder({lead + 1, 20'000});
    std::vector<float> update(lead + 20'001, 1);
    CHECK(encoder.encode(update, std::vector<float>{1, 1}, message) ==
          static_cast<std::int64_t>(update.size()));
    // Then as few as in `want`, none, and half of them.
    std::ranges::copy(x,
                      update.begin() + static_cast<std::ptrdiff_t>(lead + 1));
    update[0] = 0;
    for (const float threshold : {1.0F, 100.0F, 0.01F}) {
      std::ranges::fill(encoder.residual(), 0);
      message.clear();
      encoder.encode(update, std::vector<float>{100, threshold}, message);
      if (threshold == 1)
        REQUIRE(std::equal(want.end() - 50, want.end(), message.end() - 50));
    }
  }
}

TEST_CASE("parts have thresholds of their own, and cost nothing when idle") {
  ThresholdEncoder encoder({300, 1000, 400});
  std::vector<float> update(1700);
  update[10] = 1;
  update[1299] = -3;
  update[1300] = 0.5F;
  Bytes first, second;
  const std::vector<float> thresholds = {1, 2, 0.25F};
  CHECK(encoder.encode(update, thresholds, first) == 3);
  CHECK(
      std::ranges::equal(encoder.quanta(), std::vector<std::int64_t>{1, 1, 1}));
  std::vector<float> target(1700), want(1700);
  want[10] = 1;
  want[1299] = -2;
  want[1300] = 0.25F;
  decode_threshold(first, 1, target);
  CHECK(target == want);
  CHECK(encoder.residual()[1299] == -1);

  // Only the last part has something left.
  CHECK(encoder.encode({}, thresholds, second) == 1);
  CHECK(
      std::ranges::equal(encoder.quanta(), std::vector<std::int64_t>{0, 0, 1}));
  CHECK(inspect_threshold(second).segments == 1);
  CHECK(second.size() <= kThresholdHeaderBytes + 12);
  decode_threshold(second, 1, target);
  CHECK(target[1300] == 0.5F);
}

TEST_CASE("parts of tensors: small ones go with a neighbor") {
  using Sizes = std::vector<std::size_t>;
  CHECK(parts_of(Sizes{500, 20, 25000, 50, 2450}, true) ==
        Sizes{520, 25050, 2450});
  CHECK(parts_of(Sizes{10, 20, 300, 0, 300}, true) == Sizes{330, 300});
  CHECK(parts_of(Sizes{10, 20}, true) == Sizes{30});
  CHECK(parts_of(Sizes{500, 20, 25000}, false) == Sizes{25520});
  CHECK(parts_of(Sizes{}, true).empty());
}

TEST_CASE("clipping counts what it cuts and leaves the rest alone") {
  std::vector<float> r = {0.5F, -3, 2, -2, 7, kNan};
  const Mass cut = clip_residual(r, 2);
  CHECK(cut.size == 6);
  CHECK(cut.sum == 4);
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

// man/dl-protocol.7.scd, THRESHOLD CODE.
TEST_CASE("the example of the threshold code in dl-protocol(7)") {
  ThresholdEncoder encoder({300, 1000});
  std::vector<float> update(1300);
  update[2] = -0.5F;
  update[300] = update[1299] = 0.25F;
  Bytes message;
  encoder.encode(update, std::vector<float>{0.5F, 0.25F}, message);
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    char hex[32];
    if (i % 16 == 0) {
      std::snprintf(hex, sizeof hex, "%s%08zx  ", i ? "\n" : "", i);
      text += hex;
    } else {
      text += i % 8 == 0 ? "  " : " ";
    }
    std::snprintf(hex, sizeof hex, "%02x",
                  std::to_integer<unsigned>(message[i]));
    text += hex;
  }
  std::ifstream page(DL_SOURCE_DIR "/man/dl-protocol.7.scd");
  const std::string all((std::istreambuf_iterator<char>(page)), {});
  INFO(text);
  CHECK(all.find("```\n" + text + "\n```") != std::string::npos);
}

}  // namespace dl::exchange::threshold_test
