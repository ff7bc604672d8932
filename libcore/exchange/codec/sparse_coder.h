// Writes the sparse form of the threshold code, dl-protocol(7).

#ifndef DL_LIBCORE_EXCHANGE_CODEC_SPARSE_CODER_H_
#define DL_LIBCORE_EXCHANGE_CODEC_SPARSE_CODER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/exchange/codec/bits.h"
#include "libcore/tensor/threshold_select.h"

namespace dl::exchange {

constexpr std::uint64_t index_at(std::int32_t place) {
  return static_cast<std::uint64_t>(place < 0 ? ~place : place);
}

// A gap and a sign for each hit, some of them at a time, with Rice parameter k.
class SparseCoder {
 public:
  // `to` has as many bytes as room() says.
  SparseCoder(std::byte* to, unsigned k) : bits_(to), k_(k) {}

  // Ascending, behind those before.  Signs are those that taking has left in
  // the part.  Returns how many they are.
  std::uint64_t add(std::span<const tensor::HitWord> hits,
                    std::span<const float> part);
  // Adds quanta by their places: i, or ~i if the quantum is negative.
  void add(std::span<const std::int32_t> places);
  std::byte* finish() const { return bits_.finish(); }

  // Bytes that so many quanta, or less, take at most, and what writing needs.
  static std::size_t room(std::uint64_t quanta, std::uint64_t elements,
                          unsigned k) {
    return rice_bits(quanta, elements, k, 1) / 8 + 1 + 8;
  }

 private:
  BitWriter bits_;
  unsigned k_;
  std::uint64_t next_ = 0;  // first element not yet passed
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_SPARSE_CODER_H_
