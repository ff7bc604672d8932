// Streams of bits, least significant first, for the threshold code.

#ifndef DL_LIBCORE_EXCHANGE_BITS_H_
#define DL_LIBCORE_EXCHANGE_BITS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace dl::exchange {

// Appends to `out`.  flush() pads the last byte with zeros.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& out) : out_(&out) {}

  // The low `count` bits of value, count <= 32; the others are zero.
  void put(std::uint64_t value, unsigned count) {
    word_ |= value << used_;
    used_ += count;
    if (used_ >= 32) {
      append(4);
      word_ >>= 32;
      used_ -= 32;
    }
  }
  void zeros(std::uint64_t count) {
    for (; count > 32; count -= 32) put(0, 32);
    put(0, static_cast<unsigned>(count));
  }
  void flush() {
    append((used_ + 7) / 8);
    word_ = used_ = 0;
  }

 private:
  void append(std::size_t bytes) {
    std::size_t at = out_->size();
    out_->resize(at + bytes);
    std::memcpy(out_->data() + at, &word_, bytes);
  }

  std::vector<std::byte>* out_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;  // < 32 between calls
};

// Reads past the end give zeros; overrun() tells.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t get(unsigned count) {  // count <= 32
    std::uint64_t value = peek() & ((std::uint64_t{1} << count) - 1);
    at_ += count;
    return value;
  }
  // Zeros before the next one, which is passed over too; at the end of the
  // stream, as many as there are.
  std::uint64_t unary() {
    std::uint64_t zeros = 0;
    while (at_ < 8 * bytes_.size()) {
      std::uint64_t word = peek();
      if (word != 0) {
        auto run = static_cast<unsigned>(std::countr_zero(word));
        at_ += run + 1;
        return zeros + run;
      }
      zeros += 56;
      at_ += 56;
    }
    at_ = 8 * bytes_.size() + 1;  // there was no one: an overrun
    return zeros;
  }
  bool overrun() const { return at_ > 8 * bytes_.size(); }
  // Nothing is left but the zero bits that fill the last byte.
  bool at_padding() const {
    return !overrun() && 8 * bytes_.size() - at_ < 8 && peek() == 0;
  }

 private:
  // The next 56 bits or more that are there; zeros after the end.
  std::uint64_t peek() const {
    std::size_t byte = at_ / 8;
    std::uint64_t word = 0;
    if (byte + 8 <= bytes_.size())
      std::memcpy(&word, bytes_.data() + byte, 8);
    else if (byte < bytes_.size())
      std::memcpy(&word, bytes_.data() + byte, bytes_.size() - byte);
    return (word >> (at_ % 8)) & ((std::uint64_t{1} << 56) - 1);
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;  // in bits
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_BITS_H_
