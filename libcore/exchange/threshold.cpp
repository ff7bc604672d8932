// The threshold code: segments of gaps in Golomb-Rice code or packed trits.

#include "libcore/exchange/threshold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "libcore/base/error.h"

namespace dl::exchange {
namespace {

struct Segment {
  std::uint64_t skip;  // elements since the segment before
  std::uint64_t elements;
  std::uint64_t quanta;  // > 0
  float threshold;
};

void append_header(std::uint64_t elements, std::vector<std::byte>& out) {
  append(out, kThresholdVersion);
  append(out, std::uint8_t{0});
  append(out, std::uint16_t{0});  // segments: counted later
  append(out, elements);
}

void append_sparse(std::span<const HitWord> hits, const Segment& segment,
                   unsigned k, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  out.resize(start + rice_bits(segment.quanta, segment.elements, k, 1) / 8 + 1 +
             8);
  BitWriter bits(out.data() + start);
  std::uint64_t next = 0;  // the first element not yet passed
  for_each_hit(hits, [&](std::uint64_t i, bool negative) {
    bits.put_gap(i - next, k, negative, 1);
    next = i + 1;
  });
  out.resize(static_cast<std::size_t>(bits.finish() - out.data()));
}

void append_dense(std::span<const HitWord> hits, const Segment& segment,
                  std::vector<std::byte>& out) {
  constexpr std::array<unsigned, kTrits> kPowers = {1, 3, 9, 27, 81};
  const std::size_t start = out.size();
  out.resize(start + dense_bytes(segment.elements));
  for_each_hit(hits, [&](std::uint64_t i, bool negative) {
    std::byte& byte = out[start + i / kTrits];
    byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) +
                                  (1U + negative) * kPowers[i % kTrits]);
  });
}

void append_segment(std::span<const HitWord> hits, const Segment& segment,
                    std::vector<std::byte>& out) {
  const unsigned k = best_rice(segment.quanta, segment.elements);
  const bool dense = rice_bits(segment.quanta, segment.elements, k, 1) >
                     8 * dense_bytes(segment.elements);
  append_varint(out, segment.skip);
  append_varint(out, segment.elements);
  append_varint(out, segment.quanta);
  append(out, dense ? kDenseForm : static_cast<std::uint8_t>(k));
  append(out, segment.threshold);
  if (dense)
    append_dense(hits, segment, out);
  else
    append_sparse(hits, segment, k, out);
}

// Codes parts of a residual, one after the other.
class MessageWriter {
 public:
  MessageWriter(std::uint64_t elements, std::vector<std::byte>& out)
      : out_(out), start_(out.size()) {
    append_header(elements, out);
  }
  // Takes the quanta out of the next part; `hits` has room for all its words.
  std::int64_t add(std::span<float> part, std::span<const float> update,
                   float threshold, std::span<HitWord> hits) {
    const std::size_t words = take_over(part, update, threshold, hits.data());
    skip_ += part.size();
    if (words == 0) return 0;
    const auto found = hits.first(words);
    const std::uint64_t quanta = count_hits(found);
    append_segment(found, {skip_ - part.size(), part.size(), quanta, threshold},
                   out_);
    skip_ = 0;
    ++segments_;
    std::memcpy(out_.data() + start_ + 2, &segments_, sizeof segments_);
    return static_cast<std::int64_t>(quanta);
  }

 private:
  std::vector<std::byte>& out_;
  std::size_t start_;
  std::uint64_t skip_ = 0;
  std::uint16_t segments_ = 0;
};

void require_threshold(float threshold) {
  require(threshold > 0 && std::isfinite(threshold), "threshold");
}

}  // namespace

ThresholdEncoder::ThresholdEncoder(std::vector<std::size_t> parts)
    : parts_(std::move(parts)), quanta_(parts_.size()) {
  require(parts_.size() <= kMaxParts, "parts of an update");
  require(std::ranges::count(parts_, std::size_t{0}) == 0, "empty part");
  residual_.resize(
      std::accumulate(parts_.begin(), parts_.end(), std::size_t{0}));
  if (!parts_.empty()) hits_.resize(words_of(std::ranges::max(parts_)));
}

std::int64_t ThresholdEncoder::encode(std::span<const float> update,
                                      std::span<const float> thresholds,
                                      std::vector<std::byte>& out) {
  require(update.empty() || update.size() == residual_.size(),
          "size of the update");
  require(thresholds.size() == parts_.size(), "a threshold for each part");
  for (const float threshold : thresholds) require_threshold(threshold);
  MessageWriter message(residual_.size(), out);
  std::int64_t total = 0;
  std::size_t at = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    quanta_[p] =
        message.add(std::span(residual_).subspan(at, parts_[p]),
                    update.empty() ? update : update.subspan(at, parts_[p]),
                    thresholds[p], hits_);
    total += quanta_[p];
    at += parts_[p];
  }
  return total;
}

std::vector<std::size_t> parts_of(std::span<const std::size_t> tensor_sizes,
                                  bool per_tensor) {
  std::vector<std::size_t> parts;
  for (const std::size_t size : tensor_sizes) {
    if (size == 0) continue;
    const bool own = per_tensor && size >= kMinPart && parts.size() < kMaxParts;
    if (parts.empty() || (own && parts.back() >= kMinPart))
      parts.push_back(size);
    else
      parts.back() += size;
  }
  return parts;
}

std::int64_t count_over(std::span<const float> x, float threshold) {
  std::array<HitWord, 64> hits;
  constexpr std::size_t kChunk = 64 * hits.size();
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < x.size(); at += kChunk) {
    const auto chunk = x.subspan(at, std::min(kChunk, x.size() - at));
    count += count_hits(
        std::span(hits).first(select_over(chunk, threshold, hits.data())));
  }
  return static_cast<std::int64_t>(count);
}

std::int64_t encode_threshold(std::span<float> residual, float threshold,
                              std::vector<std::byte>& out) {
  require_threshold(threshold);
  std::vector<HitWord> hits(words_of(residual.size()));
  return MessageWriter(residual.size(), out).add(residual, {}, threshold, hits);
}

ThresholdInfo inspect_threshold(std::span<const std::byte> message) {
  ThresholdReader reader(message);
  std::uint64_t quanta = 0;
  while (reader.next()) quanta += reader.quanta().size();
  return {reader.elements(), quanta, reader.segments()};
}

void decode_threshold(std::span<const std::byte> message, float scale,
                      std::span<float> target) {
  ThresholdReader check(message);
  if (check.elements() != target.size())
    damaged("it is for " + std::to_string(check.elements()) +
            " elements, not " + std::to_string(target.size()));
  while (check.next())
    if (!std::isfinite(scale * check.threshold()))
      damaged("its quanta are too large");
  ThresholdReader reader(message);
  while (reader.next()) {
    const float quantum = scale * reader.threshold();
    const std::array<float, 2> quanta = {quantum, -quantum};
    for (const Quantum& q : reader.quanta())
      target[q.index] += quanta[q.negative];
  }
}

void accumulate(std::span<float> residual, std::span<const float> update) {
  require(residual.size() == update.size(), "size of the update");
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] += update[i];
}

double clip_residual(std::span<float> residual, float limit) {
  double cut = 0;
  for (float& r : residual) {
    float size = std::fabs(r);
    if (!(size > limit)) continue;
    cut += static_cast<double>(size) - static_cast<double>(limit);
    r = std::copysign(limit, r);
  }
  return cut;
}

}  // namespace dl::exchange
