// Segments of gaps in Golomb-Rice code, or of packed trits.

#include "libcore/exchange/codec/threshold_writer.h"

#include <array>
#include <cmath>
#include <cstring>

#include "libcore/exchange/codec/sparse_coder.h"
#include "libcore/exchange/codec/threshold_reader.h"

namespace dl::exchange {
namespace {

template <typename Visit>
void for_each_quantum_of(const TakenPart& part, const Visit& visit) {
  for_each_hit(part.hits,
               [&](std::uint64_t i) { visit(i, std::signbit(part.rest[i])); });
}

template <typename Visit>
void for_each_quantum_of(const PlacedPart& part, const Visit& visit) {
  for (const std::int32_t place : part.places)
    visit(index_at(place), place < 0);
}

template <typename Part>
void append_dense(const Part& part, std::uint64_t elements,
                  std::vector<std::byte>& out) {
  constexpr std::array<unsigned, kTrits> kPowers = {1, 3, 9, 27, 81};
  const std::size_t start = out.size();
  out.resize(start + dense_bytes(elements));
  for_each_quantum_of(part, [&](std::uint64_t i, bool negative) {
    std::byte& byte = out[start + i / kTrits];
    byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) +
                                  (1U + negative) * kPowers[i % kTrits]);
  });
}

void add_quanta_to(SparseCoder& coder, const TakenPart& part) {
  coder.add(part.hits, part.rest);
}
void add_quanta_to(SparseCoder& coder, const PlacedPart& part) {
  coder.add(part.places);
}

// Code made during the search, if it can be used as it is.
std::span<const std::byte> code_of(const TakenPart& part, unsigned k) {
  return part.k == k ? part.code : std::span<const std::byte>{};
}
std::span<const std::byte> code_of(const PlacedPart& part, unsigned k) {
  static_cast<void>(part), static_cast<void>(k);
  return {};
}

template <typename Part>
void append_segment(const Part& part, std::uint64_t elements,
                    std::uint64_t quanta, std::uint64_t skip,
                    std::vector<std::byte>& out) {
  const unsigned k = best_rice(quanta, elements);
  const bool dense =
      rice_bits(quanta, elements, k, 1) > 8 * dense_bytes(elements);
  append_varint(out, skip);
  append_varint(out, elements);
  append_varint(out, quanta);
  append(out, dense ? kDenseForm : static_cast<std::uint8_t>(k));
  append(out, part.threshold);
  if (dense) return append_dense(part, elements, out);
  if (const auto code = code_of(part, k); !code.empty()) {
    out.insert(out.end(), code.begin(), code.end());
    return;
  }
  const std::size_t start = out.size();
  out.resize(start + SparseCoder::room(quanta, elements, k));
  SparseCoder coder(out.data() + start, k);
  add_quanta_to(coder, part);
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

template <typename Part>
void ThresholdWriter::add_part(const Part& part, std::uint64_t elements,
                               std::uint64_t quanta) {
  if (quanta == 0) {
    skip_ += elements;
    return;
  }
  append_segment(part, elements, quanta, skip_, out_);
  skip_ = 0;
  ++segments_;
  std::memcpy(out_.data() + start_ + 2, &segments_, sizeof segments_);
}

void ThresholdWriter::add(const TakenPart& part) {
  add_part(part, part.rest.size(), part.quanta);
}

void ThresholdWriter::add(const PlacedPart& part) {
  add_part(part, part.elements, part.places.size());
}

}  // namespace dl::exchange
