// Taking quanta out of a residual in one pass, and decoding messages of them.

#include "libcore/exchange/codec/threshold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/sparse_coder.h"
#include "libcore/exchange/codec/threshold_writer.h"

namespace dl::exchange {

using tensor::HitWord;
using tensor::most_words;

namespace {

// Takes the quanta out of a part, and codes them on the way if k was guessed
// right: memory is waited for meanwhile.
class PartPass {
 public:
  // hits: room for most_words(part.size()); code: scratch.
  PartPass(std::span<HitWord> hits, std::vector<std::byte>& code)
      : hits_(hits), code_(code) {}

  // Returns the quanta; adds the sum of the update to `given`.
  std::uint64_t run(std::span<float> part, std::span<const float> update,
                    float threshold, std::uint64_t expected, double& given) {
    part_ = part;
    const std::size_t n = part.size();
    const std::uint64_t most = std::min<std::uint64_t>(2 * expected + 64, n);
    guess_ = best_rice(std::clamp<std::uint64_t>(expected, 1, n), n);
    const std::size_t room = SparseCoder::room(
        std::min<std::uint64_t>(most + 64 * (kAtOnce + most_words(kBlock)), n),
        n, guess_);
    if (code_.size() < room) code_.resize(room);
    SparseCoder coder(code_.data(), guess_);
    std::uint64_t quanta = 0;
    std::size_t done = 0;  // words
    const auto code = [&] {
      const auto found = hits_.subspan(done, words_ - done);
      guessed_ = quanta <= most;
      quanta += guessed_ ? coder.add(found, part) : count_hits(found);
      done = words_;
    };
    // Blocks begin as cache lines do, but for the first.
    std::size_t size = std::min(n, tensor::to_line(part.data()) + kBlock);
    for (std::size_t at = 0; at < n;
         at += size, size = std::min(kBlock, n - at)) {
      words_ += take_over(part.subspan(at, size),
                          update.empty() ? update : update.subspan(at, size),
                          threshold, at, hits_.data() + words_, given);
      if (words_ - done >= kAtOnce) code();
    }
    if (words_ > done) code();
    end_ = coder.finish();
    return quanta;
  }
  // The code's parameter was guessed; too wrong, and there is none.
  TakenPart taken(std::uint64_t quanta, float threshold) const {
    std::span<const std::byte> code;
    if (guessed_) code = {code_.data(), end_};
    return {part_, threshold, quanta, hits_.first(words_), code, guess_};
  }

 private:
  static constexpr std::size_t kBlock = 4096;  // elements, in the first cache
  static constexpr std::size_t kAtOnce =
      32;  // words, so that coding is in step

  std::span<HitWord> hits_;
  std::span<const float> part_;
  std::vector<std::byte>& code_;
  std::size_t words_ = 0;
  unsigned guess_ = 0;
  bool guessed_ = true;
  const std::byte* end_ = nullptr;
};

void require_threshold(float threshold) {
  require(threshold > 0 && std::isfinite(threshold), "threshold");
}

}  // namespace

ThresholdEncoder::ThresholdEncoder(std::vector<std::size_t> parts)
    : Residual(std::move(parts)), lines_((elements_ + 15) / 16) {
  if (!parts_.empty()) hits_.reserve(most_words(std::ranges::max(parts_)));
}

std::int64_t ThresholdEncoder::encode(std::span<const float> update,
                                      std::span<const float> thresholds,
                                      std::vector<std::byte>& out) {
  require(update.empty() || update.size() == elements_, "size of the update");
  require_thresholds(thresholds);
  ThresholdWriter message(elements_, out);
  std::int64_t total = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto of_part = [&](auto all) {
      return all.empty() ? all : all.subspan(starts_[p], parts_[p]);
    };
    hits_.resize(most_words(parts_[p]));
    PartPass pass(hits_, code_);
    const std::uint64_t quanta =
        pass.run(of_part(residual()), of_part(update), thresholds[p],
                 static_cast<std::uint64_t>(quanta_[p]), given_);
    message.add(pass.taken(quanta, thresholds[p]));
    quanta_[p] = static_cast<std::int64_t>(quanta);
    total += quanta_[p];
  }
  return total;
}

void ThresholdEncoder::clip(double multiple,
                            std::span<const float> thresholds) {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    cut_.add(
        clip_residual(residual().subspan(starts_[p], parts_[p]),
                      static_cast<float>(multiple * double{thresholds[p]})));
}

void ThresholdEncoder::shrink(std::size_t at, std::size_t elements,
                              float factor) {
  cut_.add(shrink_residual(residual().subspan(at, elements), factor));
}

void ThresholdEncoder::clear() {
  cut_.add(mass());
  std::ranges::fill(residual(), 0.0F);
}

void ThresholdEncoder::give_back(std::span<const std::byte> message) {
  decode_threshold(message, 1.0F, residual());
}

Mass ThresholdEncoder::mass() { return mass_of(residual()); }

double ThresholdEncoder::norm() {
  double squares = 0;
  for (const float r : residual()) squares += static_cast<double>(r) * r;
  return std::sqrt(squares);
}

Overlap ThresholdEncoder::overlap(std::span<const std::byte> message) {
  const std::span<const float> r = residual();
  return overlap_of(message, elements_, [r](std::uint64_t i) { return r[i]; });
}

void ThresholdEncoder::magnitudes(std::size_t step, std::vector<float>& found) {
  found.clear();
  for (std::size_t i = 0; i < elements_; i += step)
    found.push_back(std::fabs(residual()[i]));
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

std::int64_t encode_threshold(std::span<float> residual, float threshold,
                              std::vector<std::byte>& out) {
  require_threshold(threshold);
  std::vector<HitWord> hits(most_words(residual.size()));
  std::vector<std::byte> code;
  PartPass pass(hits, code);
  double given = 0;
  const std::uint64_t quanta = pass.run(residual, {}, threshold, 0, given);
  ThresholdWriter(residual.size(), out).add(pass.taken(quanta, threshold));
  return static_cast<std::int64_t>(quanta);
}

ThresholdInfo inspect_threshold(std::span<const std::byte> message) {
  ThresholdReader reader(message);
  ThresholdInfo info;
  std::size_t counted = 0;  // segments
  while (reader.next()) {
    info.quanta += reader.quanta().size();
    std::size_t negative = 0;
    for (const Quantum& quantum : reader.quanta()) negative += quantum.negative;
    const auto count = static_cast<double>(reader.quanta().size());
    const auto threshold = static_cast<double>(reader.threshold());
    info.mass.add({threshold * (count - 2 * static_cast<double>(negative)),
                   threshold * count});
    if (reader.opened() == counted) continue;
    counted = reader.opened();
    info.largest = std::max(info.largest, reader.threshold());
    info.mean += static_cast<double>(reader.threshold()) *
                 static_cast<double>(reader.segment_elements());
  }
  info.elements = reader.elements();
  info.segments = reader.segments();
  if (info.elements > 0) info.mean /= static_cast<double>(info.elements);
  return info;
}

void decode_threshold(std::span<const std::byte> message, float scale,
                      std::span<float> target) {
  const ThresholdInfo info = inspect_threshold(message);
  require_fit(info.elements, target.size(), scale * info.largest);
  add_quanta(message, scale, target);
}

void require_fit(std::uint64_t elements, std::size_t target, float largest) {
  if (elements != target)
    damaged("it is for " + std::to_string(elements) + " elements, not " +
            std::to_string(target));
  if (!std::isfinite(largest)) damaged("its quanta are too large");
}

void add_quanta(std::span<const std::byte> message, float scale,
                std::span<float> target) {
  // A block behind what is read: elements come from memory meanwhile.
  std::array<std::pair<float*, float>, ThresholdReader::kBlock> waiting;
  std::size_t count = 0;
  const auto apply = [&] {
    for (std::size_t i = 0; i < count; ++i)
      *waiting[i].first += waiting[i].second;
  };
  ThresholdReader reader(message);
  require(reader.elements() == target.size(), "size of the update");
  while (reader.next()) {
    for (const Quantum& q : reader.quanta())
      __builtin_prefetch(&target[q.index], 1);
    apply();
    const float quantum = scale * reader.threshold();
    const std::array<float, 2> quanta = {quantum, -quantum};
    count = 0;
    for (const Quantum& q : reader.quanta())
      waiting[count++] = {&target[q.index], quanta[q.negative]};
  }
  apply();
}

double accumulate(std::span<float> residual, std::span<const float> update) {
  require(residual.size() == update.size(), "size of the update");
  constexpr std::size_t kAtOnce = 4096;  // elements
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::array<HitWord, most_words(kAtOnce)> no_hits;
  double given = 0;
  for (std::size_t at = 0; at < residual.size(); at += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, residual.size() - at);
    take_over(residual.subspan(at, n), update.subspan(at, n), kNone, at,
              no_hits.data(), given);
  }
  return given;
}

Mass clip_residual(std::span<float> residual, float limit) {
  Mass cut;
  for (float& r : residual) {
    float size = std::fabs(r);
    if (!(size > limit)) continue;
    const double more = static_cast<double>(size) - static_cast<double>(limit);
    cut.add({r < 0 ? -more : more, more});
    r = std::copysign(limit, r);
  }
  return cut;
}

Mass shrink_residual(std::span<float> residual, float factor) {
  Mass cut;
  for (float& r : residual) {
    const double before = static_cast<double>(r);
    r *= factor;
    const double less = before - static_cast<double>(r);
    cut.add({less, std::fabs(less)});
  }
  return cut;
}

Mass mass_of(std::span<const float> values) {
  Mass mass;
  for (const float value : values) {
    const auto v = static_cast<double>(value);
    mass.add({v, std::fabs(v)});
  }
  return mass;
}

}  // namespace dl::exchange
