// Writes a message of the threshold code, part by part; its layout is in
// dl-protocol(7).  ThresholdReader reads it.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_WRITER_H_
#define DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/tensor/threshold_select.h"

namespace dl::exchange {

// A part whose quanta have been taken out of it.
struct TakenPart {
  std::span<const float> rest;  // after taking; the signs are read there
  float threshold;
  std::uint64_t quanta;  // as many as hits has
  std::span<const tensor::HitWord>
      hits;                         // ascending, the part's first element is 0
  std::span<const std::byte> code;  // with Rice parameter k, if it was made
  unsigned k;
};

// The same by the places of its quanta, ascending: i, or ~i where it is
// negative.
struct PlacedPart {
  std::uint64_t elements;
  float threshold;
  std::span<const std::int32_t> places;
};

class ThresholdWriter {
 public:
  // Appends to `out`; elements: of all parts.
  ThresholdWriter(std::uint64_t elements, std::vector<std::byte>& out);
  // The next part; at most kMaxParts.
  void add(const TakenPart& part);
  void add(const PlacedPart& part);

 private:
  template <typename Part>
  void add_part(const Part& part, std::uint64_t elements, std::uint64_t quanta);

  std::vector<std::byte>& out_;
  std::size_t start_;
  std::uint64_t skip_ = 0;  // elements since the last segment
  std::uint16_t segments_ = 0;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_WRITER_H_
