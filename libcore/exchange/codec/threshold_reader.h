// Reads a message of the threshold code, some quanta at a time.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_READER_H_
#define DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/exchange/codec/bits.h"
#include "libcore/exchange/codec/heads.h"

namespace dl::exchange {

// Before any segment: version, zero, segments, elements.
constexpr std::size_t kThresholdHeaderBytes = 12;
constexpr std::size_t kMaxParts = 65535;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 48;
constexpr std::uint8_t kThresholdVersion = 1;
// Any other form is the Rice parameter.
constexpr std::uint8_t kDenseForm = 255;
// Elements that a byte of the dense form holds.
constexpr std::size_t kTrits = 5;
constexpr std::size_t dense_bytes(std::uint64_t elements) {
  return elements / kTrits + (elements % kTrits != 0);
}

struct Quantum {
  std::uint64_t index;
  bool negative;
};

// The message must outlive it.  The constructor and next() throw Error
// (kProtocol) where the message is damaged; it is whole when next() has
// returned false.
class ThresholdReader {
 public:
  // Greatest number of quanta that next() reads at a time.
  static constexpr std::size_t kBlock = 64 + kTrits;

  explicit ThresholdReader(std::span<const std::byte> message);

  std::uint64_t elements() const { return elements_; }
  std::size_t segments() const { return segments_; }

  // Reads some more quanta of one segment; false if there are no more.
  bool next();
  std::span<const Quantum> quanta() const {
    return std::span(block_).first(count_);
  }
  // Threshold of the segment of quanta(), which is number opened().
  float threshold() const { return threshold_; }
  std::uint64_t segment_elements() const { return end_ - begin_; }
  std::size_t opened() const { return opened_; }

 private:
  void open_segment();
  void close_segment();
  void read_sparse();
  void read_dense();

  HeadReader head_;
  std::uint64_t elements_ = 0;
  std::size_t segments_ = 0, opened_ = 0;

  // State of the open segment.
  bool dense_ = false;
  unsigned rice_ = 0;
  float threshold_ = 0;
  std::uint64_t begin_ = 0, end_ = 0;  // elements of the segment
  std::uint64_t at_ = 0;               // first element not yet passed
  std::uint64_t left_ = 0;             // number of quanta not yet read
  BitReader bits_{{}};                 // code of the sparse form
  std::span<const std::byte> trits_;   // code of the dense form

  // Larger than 64, as a byte of the dense form may bring five quanta at once.
  std::array<Quantum, kBlock> block_;
  std::size_t count_ = 0;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_READER_H_
