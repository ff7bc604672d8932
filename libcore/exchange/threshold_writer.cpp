// Segments of gaps in Golomb-Rice code, or of packed trits.

#include "libcore/exchange/threshold_writer.h"

#include <array>
#include <cmath>
#include <cstring>

#include "libcore/exchange/sparse_coder.h"
#include "libcore/exchange/threshold_reader.h"

namespace dl::exchange {
namespace {

void append_dense(const TakenPart& part, std::vector<std::byte>& out) {
  constexpr std::array<unsigned, kTrits> kPowers = {1, 3, 9, 27, 81};
  const std::size_t start = out.size();
  out.resize(start + dense_bytes(part.rest.size()));
  for_each_hit(part.hits, [&](std::uint64_t i) {
    const bool negative = std::signbit(part.rest[i]);
    std::byte& byte = out[start + i / kTrits];
    byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) +
                                  (1U + negative) * kPowers[i % kTrits]);
  });
}

void append_segment(const TakenPart& part, std::uint64_t skip,
                    std::vector<std::byte>& out) {
  const std::uint64_t elements = part.rest.size();
  const unsigned k = best_rice(part.quanta, elements);
  const bool dense =
      rice_bits(part.quanta, elements, k, 1) > 8 * dense_bytes(elements);
  append_varint(out, skip);
  append_varint(out, elements);
  append_varint(out, part.quanta);
  append(out, dense ? kDenseForm : static_cast<std::uint8_t>(k));
  append(out, part.threshold);
  if (dense) return append_dense(part, out);
  if (!part.code.empty() && part.k == k) {
    out.insert(out.end(), part.code.begin(), part.code.end());
    return;
  }
  const std::size_t start = out.size();
  out.resize(start + SparseCoder::room(part.quanta, elements, k));
  SparseCoder coder(out.data() + start, k);
  coder.add(part.hits, part.rest);
  out.resize(static_cast<std::size_t>(coder.finish() - out.data()));
}

}  // namespace

ThresholdWriter::ThresholdWriter(std::uint64_t elements,
                                 std::vector<std::byte>& out)
    : out_(out), start_(out.size()) {
  append(out, kThresholdVersion);
  append(out, std::uint8_t{0});
  append(out, std::uint16_t{0});  // segments: counted later
  append(out, elements);
}

void ThresholdWriter::add(const TakenPart& part) {
  if (part.quanta == 0) {
    skip_ += part.rest.size();
    return;
  }
  append_segment(part, skip_, out_);
  skip_ = 0;
  ++segments_;
  std::memcpy(out_.data() + start_ + 2, &segments_, sizeof segments_);
}

}  // namespace dl::exchange
