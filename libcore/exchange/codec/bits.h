// Streams of bits, least significant first, and Golomb-Rice codes in them.
//
// A gap g with parameter k: g >> k zero bits, a one bit, the k low bits of g.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_BITS_H_
#define DL_LIBCORE_EXCHANGE_CODEC_BITS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dl::exchange {

constexpr unsigned kMaxRice = 31;
// Most bits of one put() or get().
constexpr unsigned kMaxBits = 56;

// The parameter with the shortest code for `chosen` of `elements` that are
// scattered evenly; chosen > 0.
unsigned best_rice(std::uint64_t chosen, std::uint64_t elements);

// Most bits that the gaps before `chosen` elements can take, wherever they are,
// with `extra` bits behind each.
constexpr std::uint64_t rice_bits(std::uint64_t chosen, std::uint64_t elements,
                                  unsigned k, unsigned extra) {
  return chosen * (k + 1 + extra) + ((elements - chosen) >> k);
}

// Writes from `to` on; needs 8 bytes of room behind the last bit.
class BitWriter {
 public:
  explicit BitWriter(std::byte* to) : at_(to) {}

  // The low `count` bits of value, count <= kMaxBits; the others are zero.
  void put(std::uint64_t value, unsigned count) {
    word_ |= value << used_;
    used_ += count;
    std::memcpy(at_, &word_, 8);
    at_ += used_ / 8;
    word_ >>= used_ & 56U;
    used_ &= 7U;
  }
  // The code of gap, then `count` bits of `tail`; k + 1 + count <= kMaxBits.
  void put_gap(std::uint64_t gap, unsigned k, std::uint64_t tail,
               unsigned count) {
    std::uint64_t zeros = gap >> k;
    const std::uint64_t low = gap - (zeros << k);
    const std::uint64_t code = 1 | low << 1 | tail << (k + 1);
    const unsigned behind = k + 1 + count;
    if (zeros + behind > kMaxBits) [[unlikely]]
      zeros = put_zeros(zeros, behind);
    const auto run = static_cast<unsigned>(zeros);
    put(code << run, run + behind);
  }
  // Fills the last byte with zeros and returns the end of the written bytes.
  std::byte* finish() const { return at_ + (used_ > 0); }

 private:
  // Writes as many of the zeros as needed for the rest to fit into one put()
  // with the `behind` bits that follow.
  std::uint64_t put_zeros(std::uint64_t zeros, unsigned behind) {
    while (zeros + behind > kMaxBits) {
      const std::uint64_t step = zeros < kMaxBits ? zeros : kMaxBits;
      put(0, static_cast<unsigned>(step));
      zeros -= step;
    }
    return zeros;
  }

  std::byte* at_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;  // number of pending bits, < 8 between calls
};

// Reads past the end give zeros; overrun() tells.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t get(unsigned count) {  // count <= kMaxBits
    const std::uint64_t value = peek() & ((std::uint64_t{1} << count) - 1);
    at_ += count;
    return value;
  }
  // A gap, and the `count` bits behind it; k + 1 + count <= kMaxBits.
  std::uint64_t get_gap(unsigned k, unsigned count, std::uint64_t& tail) {
    const std::uint64_t word = peek();
    const auto run = static_cast<unsigned>(std::countr_zero(word));
    if (run + k + 1 + count <= kMaxBits) {
      const std::uint64_t code = word >> run >> 1;
      at_ += run + k + 1 + count;
      tail = code >> k & ((std::uint64_t{1} << count) - 1);
      return std::uint64_t{run} << k | (code & ((std::uint64_t{1} << k) - 1));
    }
    const std::uint64_t zeros = unary();
    const std::uint64_t low = get(k);
    tail = get(count);
    return zeros > UINT64_MAX >> kMaxRice ? UINT64_MAX : zeros << k | low;
  }
  bool overrun() const { return at_ > 8 * bytes_.size(); }
  // Nothing but zero bits fills the last byte that was read of; moves on to the
  // next one.
  bool padding() {
    const std::uint64_t rest = get(static_cast<unsigned>(-at_ & 7U));
    return rest == 0 && !overrun();
  }
  std::size_t bytes_read() const { return (at_ + 7) / 8; }

 private:
  // Counts the zeros before the next one bit and passes over both; at the end
  // of the stream counts the zeros that are left.
  std::uint64_t unary() {
    std::uint64_t zeros = 0;
    while (at_ < 8 * bytes_.size()) {
      const std::uint64_t word = peek();
      if (word != 0) {
        const auto run = static_cast<unsigned>(std::countr_zero(word));
        at_ += run + 1;
        return zeros + run;
      }
      zeros += kMaxBits;
      at_ += kMaxBits;
    }
    at_ = 8 * bytes_.size() + 1;  // no one bit was found: an overrun
    return zeros;
  }
  // The next 56 bits of the stream; zeros after its end.
  std::uint64_t peek() const {
    const std::size_t byte = at_ / 8;
    std::uint64_t word = 0;
    if (byte + 8 <= bytes_.size())
      std::memcpy(&word, bytes_.data() + byte, 8);
    else if (byte < bytes_.size())
      std::memcpy(&word, bytes_.data() + byte, bytes_.size() - byte);
    return (word >> (at_ % 8)) & ((std::uint64_t{1} << kMaxBits) - 1);
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;  // position in bits
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_BITS_H_
