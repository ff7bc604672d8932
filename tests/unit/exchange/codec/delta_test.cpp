// Differences on the wire: what is sent and what is kept make up what was
// meant.

#include "libcore/exchange/codec/delta.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/exchange/codec/half.h"
#include "libcore/exchange/codec/levels.h"

namespace dl::exchange::delta_test {

namespace {

using Bytes = std::vector<std::byte>;

std::vector<float> normal(std::size_t n, std::uint64_t stream) {
  Philox random(21, stream);
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(random.normal());
  return x;
}

// So many of n elements, the others 0.
std::vector<float> normal_among(std::size_t n, double share,
                                std::uint64_t stream) {
  Philox random(24, stream);
  std::vector<float> x = normal(n, stream);
  for (float& v : x)
    if (random.uniform() >= share) v = 0;
  return x;
}

double norm(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

const char* const kFormats[] = {
    "f32",           "f16",           "int8",          "sparse:0.05:1",
    "sparse:0.05:2", "sparse:0.05:4", "sparse:0.05:8", "sparse:0.05:16"};

// Values that a receiver of the message gets.
std::vector<float> decoded(const Bytes& message, std::size_t n) {
  std::vector<float> target(n);
  decode_delta(message, 1, target);
  return target;
}

Bytes encoded(std::span<const float> delta, const char* text,
              std::vector<float>& residual) {
  const DeltaFormat format = DeltaFormat::parse(text);
  if (format.lossy())
    residual.resize(delta.size());
  else
    residual.clear();
  Bytes message;
  encode_delta(delta, format, residual, message);
  return message;
}

}  // namespace

TEST_CASE("halves: every one of them, and rounding to even") {
  for (unsigned h = 0; h < 65536; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    const float value = float_of(half);
    if ((h & 0x7fffU) >= kHalfInfinity) {
      CHECK_FALSE(std::isfinite(value));
      continue;
    }
    REQUIRE(half_of(value) == half);
  }
  CHECK(float_of(half_of(1 + std::ldexp(1.0F, -11))) == 1);
  CHECK(float_of(half_of(1 + 3 * std::ldexp(1.0F, -11))) ==
        1 + std::ldexp(1.0F, -9));
  CHECK(float_of(half_of(1e9F)) == kMaxHalf);
  CHECK(float_of(half_of(-1e9F)) == -kMaxHalf);
  CHECK(half_of(std::ldexp(1.0F, -25)) == 0);
  CHECK(half_of(std::ldexp(1.5F, -25)) == 1);

  std::vector<float> x = normal(1003, 1), y(1003);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(x[i], static_cast<int>(i % 48) - 28);
  std::vector<std::uint16_t> halves(1003);
  to_half(x, halves);
  from_half(halves, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(x[i]);
    REQUIRE(halves[i] == half_of(x[i]));
    REQUIRE(y[i] == float_of(halves[i]));
  }
}

TEST_CASE("levels lie where the error is least") {
  std::vector<float> two = {1, 1, 1, 5, 5};
  CHECK(Levels::fitted(two, 1).values()[0] == Approx(13.0 / 5));
  const Levels pair = Levels::fitted(two, 2);
  CHECK(pair.values()[0] == 1);
  CHECK(pair.values()[1] == 5);
  CHECK(pair.nearest(2.9F) == 0);
  CHECK(pair.nearest(3.1F) == 1);
  // More levels than values.
  CHECK(Levels::fitted(std::vector<float>{2}, 8).values().front() == 2);
  const Levels many = Levels::geometric(1, 2, 128);
  for (std::size_t i = 0; i < 127; ++i) {
    REQUIRE(many.nearest(many.values()[i] * 1.4F) == i);
    REQUIRE(many.nearest(many.values()[i] * 1.6F) == i + 1);
  }
}

TEST_CASE("what is sent and what is kept make up the delta") {
  for (const char* text : kFormats) {
    INFO(text);
    for (std::size_t n : {1U, 63U, 1024U, 1025U, 5000U}) {
      const std::vector<float> delta = normal(n, n);
      std::vector<float> residual;
      const std::vector<float> sent =
          decoded(encoded(delta, text, residual), n);
      if (residual.empty()) {
        REQUIRE(sent == delta);
        continue;
      }
      for (std::size_t i = 0; i < n; ++i)
        REQUIRE(sent[i] + residual[i] == Approx(delta[i]).margin(1e-6));
      REQUIRE(norm(residual) < norm(delta));
    }
  }
}

TEST_CASE("a difference that is coded at once is as one that was made before") {
  for (const double share : {1.0, 0.4, 0.01}) {
    const std::vector<float> before = normal(5000, 31);
    std::vector<float> after = before, delta(5000), none;
    const std::vector<float> change = normal_among(5000, share, 32);
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] += change[i];
      delta[i] = after[i] - before[i];
    }
    Bytes message;
    encode_difference(after, before, message);
    CHECK(message == encoded(delta, "f32", none));
    after[4999] = std::numeric_limits<float>::infinity();
    CHECK_THROWS_AS(encode_difference(after, before, message), Error);
  }
}

TEST_CASE("f32 leaves zeros out where that is shorter, and loses nothing") {
  const auto bits_of = [](float v) {
    return v == 0 ? 0 : std::bit_cast<std::uint32_t>(v);
  };
  for (const std::size_t n : {1U, 2U, 64U, 1000U, 5000U})
    for (const double share : {0.0, 0.001, 0.1, 0.4, 0.9, 1.0}) {
      INFO(n << " " << share);
      std::vector<float> delta = normal_among(n, share, n), none;
      delta[0] = -0.0F;
      if (n > 2) {
        delta[n / 2] = std::numeric_limits<float>::denorm_min();
        delta[n / 3] = -std::numeric_limits<float>::max();
        delta[n - 1] = -std::numeric_limits<float>::min();
      }
      const Bytes message = encoded(delta, "f32", none);
      const std::vector<float> sent = decoded(message, n);
      for (std::size_t i = 0; i < n; ++i)
        REQUIRE(bits_of(sent[i]) == bits_of(delta[i]));
      REQUIRE(message.size() <= kDeltaHeaderBytes + 4 * n);
      if (n < 1000) continue;
      const double dense = 4 * static_cast<double>(n);
      const double bytes = static_cast<double>(message.size());
      if (share >= 0.9) CHECK(bytes == kDeltaHeaderBytes + dense);
      if (share == 0.4) CHECK(bytes < 0.5 * dense);
      if (share == 0.1) CHECK(bytes < 0.13 * dense);
    }
  // 2^-149 and -0 among zeros; as dl-protocol(7) says.
  std::vector<float> delta(40), none;
  delta[2] = 1.5F;
  delta[20] = -0.0F;
  delta[39] = -std::numeric_limits<float>::denorm_min();
  Bytes want;
  for (const int byte : {0x01, 0x03, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x00,
                         0x00, 0x00, 0x00, 0x02, 0x04, 0x20, 0x05, 0x00, 0x00,
                         0xf0, 0x8f, 0x34, 0x00, 0x00, 0x00, 0x00})
    want.push_back(static_cast<std::byte>(byte));
  CHECK(encoded(delta, "f32", none) == want);
  delta[39] = NAN;
  CHECK_THROWS_AS(encoded(delta, "f32", none), Error);
}

TEST_CASE("f32: one element of very many") {
  // The best parameter of gaps would leave no room for a value behind them.
  constexpr std::size_t kN = 30'000'000;
  std::vector<float> delta(kN), none;
  delta[kN - 2] = -0.1F;
  const Bytes message = encoded(delta, "f32", none);
  CHECK(message.size() < kDeltaHeaderBytes + 16);
  decode_delta(message, -1, delta);
  CHECK(std::ranges::all_of(delta, [](float v) { return v == 0; }));
}

TEST_CASE("dyadic deltas are conserved to the last bit over many rounds") {
  Philox random(22, 1);
  for (const char* text : {"f16", "int8", "sparse:0.1:1", "sparse:0.1:16"}) {
    INFO(text);
    constexpr std::size_t kN = 2000;
    std::vector<float> residual(kN), sent(kN), meant(kN);
    for (int round = 0; round < 20; ++round) {
      std::vector<float> delta(kN);
      for (float& v : delta)
        v = std::ldexp(static_cast<float>(random.below(4096)) - 2048, -10);
      // A block's scale, or the mean of what is chosen, is a power of two.
      for (std::size_t i = 0; i < kN; i += 1000) delta[i] = 127.0F / 32;
      if (std::string_view(text).starts_with("sparse:0.1:1") &&
          std::string_view(text).size() == 12)
        for (float& v : delta)
          v = std::fabs(v) > 1.8F ? std::copysign(2.0F, v) : 0;
      for (std::size_t i = 0; i < kN; ++i) meant[i] += delta[i];
      Bytes message;
      encode_delta(delta, DeltaFormat::parse(text), residual, message);
      decode_delta(message, 1, sent);
    }
    double lost = 0;
    for (std::size_t i = 0; i < kN; ++i)
      lost = std::max(lost, std::fabs(static_cast<double>(sent[i]) +
                                      static_cast<double>(residual[i]) -
                                      static_cast<double>(meant[i])));
    CHECK(lost <= (std::string_view(text) == "int8" ? 1e-5 : 0));
  }
}

TEST_CASE("more bits, less error; the sparse form sends the largest") {
  constexpr std::size_t kN = 300'000;
  const std::vector<float> delta = normal(kN, 3);
  double before = norm(delta);
  std::size_t bytes = 0;
  for (const char* text : {"sparse:0.01:1", "sparse:0.01:2", "sparse:0.01:4",
                           "sparse:0.01:8", "sparse:0.01:16"}) {
    INFO(text);
    std::vector<float> residual;
    const Bytes message = encoded(delta, text, residual);
    const std::vector<float> sent = decoded(message, kN);
    // The error of those that were sent.
    double squares = 0, least = 1e9, left = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < kN; ++i) {
      if (sent[i] == 0) {
        left = std::max<double>(left, std::fabs(delta[i]));
        continue;
      }
      ++count;
      least = std::min<double>(least, std::fabs(delta[i]));
      squares += std::pow(static_cast<double>(residual[i]), 2);
    }
    CHECK(least >= left);
    CHECK(static_cast<double>(count) == Approx(0.01 * kN).epsilon(0.1));
    CHECK(squares < before);
    before = squares;
    CHECK(message.size() > bytes);
    bytes = message.size();
    // Positions, signs and magnitudes.
    const double p = static_cast<double>(count) / kN;
    const double entropy =
        (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p +
        DeltaFormat::parse(text).bits;
    CHECK(8.0 * static_cast<double>(message.size() - kDeltaHeaderBytes - 40) <=
          1.02 * entropy * static_cast<double>(count));
  }
}

TEST_CASE("edges: nothing, zeros, one element, what halves cannot hold") {
  for (const char* text : kFormats) {
    INFO(text);
    std::vector<float> residual;
    CHECK(decoded(encoded({}, text, residual), 0).empty());
    CHECK(decoded(encoded(std::vector<float>(99), text, residual), 99) ==
          std::vector<float>(99));
    const std::vector<float> one = {-2};
    residual.clear();
    CHECK(decoded(encoded(one, text, residual), 1)[0] == Approx(-2));
    const std::vector<float> large = {1e30F, 1e-30F, -3, 0};
    residual.clear();
    const auto sent = decoded(encoded(large, text, residual), 4);
    for (const float v : sent) CHECK(std::isfinite(v));
  }
}

TEST_CASE("what is not finite is not sent, and changes nothing") {
  for (const char* text : kFormats)
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      INFO(text);
      std::vector<float> delta(2000, 0.5F);
      delta[1500] = bad;
      const DeltaFormat format = DeltaFormat::parse(text);
      std::vector<float> residual(format.lossy() ? 2000 : 0, 0.25F);
      const std::vector<float> before = residual;
      Bytes message;
      CHECK_THROWS_AS(encode_delta(delta, format, residual, message), Error);
      CHECK(message.empty());
      CHECK(residual == before);
    }
}

TEST_CASE("damaged deltas are refused and change nothing") {
  Philox random(23, 1);
  constexpr std::size_t kN = 1500;
  std::vector<Bytes> messages;
  for (const char* text : kFormats) {
    std::vector<float> residual;
    messages.push_back(encoded(normal(kN, 4), text, residual));
  }
  std::vector<float> none;
  messages.push_back(encoded(normal_among(kN, 0.05, 4), "f32", none));
  for (const Bytes& good : messages) {
    INFO(&good - messages.data());
    const auto refused = [&](const Bytes& message, std::size_t n = 1500) {
      std::vector<float> target(n, 0.5F), before = target;
      try {
        decode_delta(message, 0.5F, target);
      } catch (const Error& error) {
        CHECK(error.code() == Code::kProtocol);
        REQUIRE(target == before);
        return true;
      }
      for (const float v : target) REQUIRE(std::isfinite(v));
      return false;
    };
    REQUIRE_FALSE(refused(good));
    CHECK(refused(good, kN - 1));
    CHECK(refused(good, kN + 1));
    const std::size_t step = good.size() > 500 ? 7 : 1;
    for (std::size_t n = 0; n < good.size(); n += step)
      REQUIRE(refused({good.begin(), good.begin() + n}));
    Bytes longer = good;
    longer.push_back(std::byte{0});
    CHECK(refused(longer));
    for (std::size_t at : {0U, 1U, 2U, 3U, 4U, 11U}) {
      Bytes message = good;
      message[at] = std::byte{0x77};
      CHECK(refused(message));
    }
    for (int round = 0; round < 1000; ++round) {
      Bytes message = good;
      for (int k = 0; k < 3; ++k)
        message[kDeltaHeaderBytes +
                random.below(std::min<std::size_t>(
                    message.size() - kDeltaHeaderBytes, 100))] =
            static_cast<std::byte>(random());
      refused(message);
    }
  }
}

TEST_CASE("values as they are: each of their fields is checked") {
  std::vector<float> delta(40), none;
  delta[0] = 1;
  const Bytes good = encoded(delta, "f32", none);
  // How many, the parameter of gaps, the bits of a value, and the value: the
  // one bit of its gap, the parameter's bits, its sign, and the others.
  const std::size_t at = kDeltaHeaderBytes;
  REQUIRE(good.size() == at + 3 + 5);
  const auto accepted = [&](std::size_t index, unsigned byte) {
    Bytes message = good;
    message[index] = static_cast<std::byte>(byte);
    std::vector<float> target(40);
    try {
      decode_delta(message, 1, target);
    } catch (const Error& error) {
      CHECK(error.code() == Code::kProtocol);
      CHECK(target == std::vector<float>(40));
      return false;
    }
    return true;
  };
  const auto byte_of = [&](std::size_t index) {
    return static_cast<unsigned>(good[index]);
  };
  CHECK(accepted(at, 1));
  CHECK_FALSE(accepted(at, 0));
  CHECK_FALSE(accepted(at, 2));
  CHECK_FALSE(accepted(at, 41));
  CHECK_FALSE(accepted(at + 1, 24));
  CHECK_FALSE(accepted(at + 1, 31));
  CHECK_FALSE(accepted(at + 2, 31));
  CHECK_FALSE(accepted(at + 2, 33));
  CHECK_FALSE(accepted(at + 3, 0));
  // The exponent's last bit, which makes 1 infinite: 127 becomes 255.
  const unsigned k = byte_of(at + 1), last = 1 + k + 31;
  CHECK_FALSE(
      accepted(at + 3 + last / 8, byte_of(at + 3 + last / 8) | 1U << last % 8));
  CHECK_FALSE(accepted(at + 7, byte_of(at + 7) | 0x80U));
}

}  // namespace dl::exchange::delta_test
