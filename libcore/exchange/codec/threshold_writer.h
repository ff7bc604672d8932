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
  // Residual after taking; has the signs of quanta.
  std::span<const float> rest;
  float threshold;
  std::uint64_t quanta;  // number of hits
  std::span<const tensor::HitWord>
      hits;                         // ascending; 0 is the part's first element
  std::span<const std::byte> code;  // with Rice parameter k; empty if not made
  unsigned k;
};

// A part with its quanta by their places, ascending: i, or ~i if the quantum is
// negative.
struct PlacedPart {
  std::uint64_t elements;
  float threshold;
  std::span<const std::int32_t> places;
};

class ThresholdWriter {
 public:
  // Appends to `out`.  elements: number of elements of all parts.
  ThresholdWriter(std::uint64_t elements, std::vector<std::byte>& out);
  // Appends the next part; at most kMaxParts are allowed.
  void add(const TakenPart& part);
  void add(const PlacedPart& part);

 private:
  template <typename Part>
  void add_part(const Part& part, std::uint64_t elements, std::uint64_t quanta);

  std::vector<std::byte>& out_;
  std::size_t start_;
  std::uint64_t skip_ = 0;  // number of elements since the last segment
  std::uint16_t segments_ = 0;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_WRITER_H_
