// Encoder and decoder of sparse differences.

#include "libcore/exchange/codec/sparse_delta.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "libcore/base/philox.h"
#include "libcore/exchange/codec/bits.h"
#include "libcore/exchange/codec/half.h"
#include "libcore/exchange/codec/heads.h"
#include "libcore/exchange/codec/levels.h"
#include "libcore/exchange/residual/sample.h"
#include "libcore/tensor/threshold_select.h"

namespace dl::exchange {
namespace {

using tensor::HitWord;

constexpr std::size_t kSample = 65536;
constexpr unsigned kExact = 32;  // bits of a value that is sent as it is
constexpr float kLeast = std::numeric_limits<float>::denorm_min();

// The largest Rice parameter with values of so many bits.
constexpr unsigned most_rice(unsigned bits) {
  return std::min(kMaxRice, kMaxBits - 1 - bits);
}
// The best one.
unsigned rice_for(std::uint64_t count, std::uint64_t elements, unsigned bits) {
  return std::min(best_rice(count, elements), most_rice(bits));
}

// Threshold that the largest `density` of x reach, by a sample.
float threshold_of(std::span<const float> x, double density) {
  std::vector<float> sample;
  Philox random(0, x.size());
  sample_magnitudes(x, {}, kSample, 0, random, sample);
  const auto rank = static_cast<std::size_t>(
      std::llround(density * static_cast<double>(sample.size())));
  const float reach =
      largest_reach(sample, std::clamp<std::size_t>(rank, 1, sample.size()));
  // Zeros are not sent.
  return std::max(reach, kLeast);
}

// A code for the magnitudes of one message.
class Magnitudes {
 public:
  Magnitudes(unsigned bits, std::span<const float> chosen) : bits_(bits) {
    if (bits >= 16) return;
    const std::size_t count = std::size_t{1} << (bits - 1);
    if (bits < 8) {
      levels_ = Levels::fitted(chosen, count);
      return;
    }
    const auto [least, most] = std::ranges::minmax(chosen);
    const double span = static_cast<double>(most) / static_cast<double>(least);
    first_ = least;
    ratio_ =
        static_cast<float>(std::pow(span, 1 / static_cast<double>(count - 1)));
    // Rounded upwards 127 times it may pass the largest float.
    while (!std::isfinite(first_ * std::pow(ratio_, 127.0F)))
      ratio_ = std::nextafter(ratio_, 1.0F);
    levels_ = Levels::geometric(first_, ratio_, count);
  }
  // Throws kProtocol.
  explicit Magnitudes(HeadReader& head) {
    const auto bits = head.get<std::uint8_t>();
    bits_ = bits;
    const auto checked = [](bool good) {
      if (!good) damaged("its levels are no ascending magnitudes");
    };
    if (bits == 16 || bits == kExact) return;
    if (bits == 8) {
      first_ = head.get<float>();
      ratio_ = head.get<float>();
      checked(first_ > 0 && ratio_ >= 1 &&
              std::isfinite(static_cast<double>(first_) *
                            std::pow(static_cast<double>(ratio_), 127.0)));
      float last = first_;
      for (int i = 0; i < 127; ++i) last *= ratio_;
      checked(std::isfinite(last));
      levels_ = Levels::geometric(first_, ratio_, 128);
      return;
    }
    if (bits != 1 && bits != 2 && bits != 4) damaged("unknown code");
    std::vector<float> levels(std::size_t{1} << (bits - 1));
    float before = 0;
    for (float& level : levels) {
      level = head.get<float>();
      checked(level > 0 && level >= before && std::isfinite(level));
      before = level;
    }
    levels_.emplace(std::move(levels));
  }

  void append_to(std::vector<std::byte>& out) const {
    append(out, static_cast<std::uint8_t>(bits_));
    if (bits_ == 8) {
      append(out, first_);
      append(out, ratio_);
    } else if (levels_) {
      for (const float level : levels_->values()) append(out, level);
    }
  }

  unsigned bits() const { return bits_; }  // of a code, with the sign
  // Code of |x|, without the sign.
  std::uint32_t code(float magnitude) const {
    if (bits_ == kExact) return std::bit_cast<std::uint32_t>(magnitude);
    if (!levels_) return half_of(magnitude);
    return static_cast<std::uint32_t>(levels_->nearest(magnitude));
  }
  float value(std::uint32_t code) const {
    if (bits_ == kExact) return std::bit_cast<float>(code);
    return levels_ ? levels_->values()[code]
                   : float_of(static_cast<std::uint16_t>(code));
  }

 private:
  unsigned bits_;
  float first_ = 0, ratio_ = 0;
  std::optional<Levels> levels_;  // none: binary16, binary32
};

// Calls visit(index, value) for each element; throws where it is damaged.
template <typename Visit>
void walk(HeadReader head, std::uint64_t elements, const Visit& visit) {
  std::uint64_t left = head.varint();
  if (left > elements) damaged("more values than elements");
  if (left > 0) {
    const auto rice = head.get<std::uint8_t>();
    const Magnitudes magnitudes(head);
    if (rice > most_rice(magnitudes.bits())) damaged("unknown code");
    BitReader bits(head.rest());
    for (std::uint64_t at = 0; left > 0; --left, ++at) {
      std::uint64_t tail = 0;
      const std::uint64_t gap = bits.get_gap(rice, magnitudes.bits(), tail);
      if (bits.overrun()) damaged("cut short");
      if (gap >= elements - at) damaged("an index is out of range");
      at += gap;
      const float value =
          magnitudes.value(static_cast<std::uint32_t>(tail >> 1));
      visit(at, tail & 1 ? -value : value);
    }
    if (!bits.padding()) damaged("bits are left over");
    head.take(bits.bytes_read());
  }
  if (!head.rest().empty()) damaged("bytes are left over");
}

std::vector<HitWord> hits_over(std::span<const float> x, float threshold) {
  std::vector<HitWord> words(tensor::most_words(x.size()));
  words.resize(select_over(x, threshold, words.data()));
  return words;
}

// Calls sent(index, value) for each that is written.
template <typename Sent>
void append_hits(std::span<const float> x, std::span<const HitWord> words,
                 std::uint64_t count, const Magnitudes& magnitudes,
                 std::vector<std::byte>& out, const Sent& sent) {
  const unsigned k = rice_for(count, x.size(), magnitudes.bits());
  append(out, static_cast<std::uint8_t>(k));
  magnitudes.append_to(out);

  const std::size_t start = out.size();
  out.resize(start + rice_bits(count, x.size(), k, magnitudes.bits()) / 8 + 1 +
             8);
  BitWriter bits(out.data() + start);
  std::uint64_t next = 0;
  for_each_hit(words, [&](std::uint64_t i) {
    const bool negative = std::signbit(x[i]);
    const std::uint32_t code = magnitudes.code(std::fabs(x[i]));
    bits.put_gap(i - next, k, std::uint64_t{code} << 1 | negative,
                 magnitudes.bits());
    next = i + 1;
    const float value = magnitudes.value(code);
    sent(i, negative ? -value : value);
  });
  out.resize(static_cast<std::size_t>(bits.finish() - out.data()));
}

}  // namespace

void append_sparse_delta(std::span<float> x, const DeltaFormat& format,
                         std::vector<std::byte>& out) {
  std::vector<HitWord> words;
  if (!x.empty()) words = hits_over(x, threshold_of(x, format.density));
  const std::uint64_t count = count_hits(words);
  append_varint(out, count);
  if (count == 0) return;

  std::vector<float> chosen;
  chosen.reserve(count);
  for_each_hit(words,
               [&](std::uint64_t i) { chosen.push_back(std::fabs(x[i])); });
  const Magnitudes magnitudes(static_cast<unsigned>(format.bits), chosen);
  append_hits(x, words, count, magnitudes, out,
              [&](std::uint64_t i, float value) { x[i] -= value; });
}

void append_nonzero_delta(std::span<const float> x,
                          std::vector<std::byte>& out) {
  const std::vector<HitWord> words = hits_over(x, kLeast);
  const std::uint64_t count = count_hits(words);
  append_varint(out, count);
  if (count == 0) return;
  append_hits(x, words, count, Magnitudes(kExact, {}), out,
              [](std::uint64_t, float) {});
}

std::size_t nonzero_delta_bytes(std::uint64_t nonzero, std::uint64_t elements) {
  std::vector<std::byte> head;
  append_varint(head, nonzero);
  if (nonzero == 0) return head.size();
  const unsigned k = rice_for(nonzero, elements, kExact);
  return head.size() + 2 + rice_bits(nonzero, elements, k, kExact) / 8 + 1;
}

void apply_sparse_delta(std::span<const std::byte> body, float scale,
                        std::span<float> target) {
  walk(HeadReader(body), target.size(), [&](std::uint64_t, float value) {
    if (!std::isfinite(scale * value)) damaged("a value that is not finite");
  });
  walk(HeadReader(body), target.size(),
       [&](std::uint64_t i, float value) { target[i] += scale * value; });
}

}  // namespace dl::exchange
