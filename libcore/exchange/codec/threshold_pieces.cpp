// ThresholdEncoder by pieces: what is taken is put in order when all are.

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/exchange/codec/threshold_writer.h"

namespace dl::exchange {

using tensor::HitWord;
using tensor::most_words;

void ThresholdEncoder::begin(std::span<const float> thresholds) {
  require_thresholds(thresholds);
  thresholds_.assign(thresholds.begin(), thresholds.end());
  taken_.clear();
  taken_hits_.clear();
}

void ThresholdEncoder::take(std::size_t at, std::span<const float> piece) {
  constexpr std::size_t kAtOnce = 16384;  // elements
  std::array<HitWord, most_words(kAtOnce)> words;
  const auto next = std::ranges::upper_bound(starts_, at);
  const auto part = static_cast<std::size_t>(next - starts_.begin()) - 1;
  const std::size_t start = starts_[part];
  require(at + piece.size() <= start + parts_[part], "a piece of two parts");
  while (!piece.empty()) {
    const std::size_t n = std::min(piece.size(), kAtOnce);
    double given = 0;
    const std::size_t count =
        take_over(residual().subspan(at, n), piece.first(n), thresholds_[part],
                  at - start, words.data(), given);
    const std::lock_guard lock(*mutex_);
    taken_.push_back({at, n, part, taken_hits_.size(), count, given});
    taken_hits_.insert(taken_hits_.end(), words.begin(), words.begin() + count);
    at += n;
    piece = piece.subspan(n);
  }
}

std::int64_t ThresholdEncoder::finish(std::vector<std::byte>& out) {
  std::ranges::sort(taken_, {}, &Taken::at);
  ThresholdWriter message(elements_, out);
  std::int64_t total = 0;
  auto piece = taken_.begin();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    hits_.clear();
    std::size_t covered = 0;
    for (; piece != taken_.end() && piece->part == p; ++piece) {
      const auto hits = hits_of(*piece);
      hits_.insert(hits_.end(), hits.begin(), hits.end());
      covered += piece->elements;
      given_ += piece->given;
    }
    require(covered == parts_[p], "pieces that are not the whole update");
    const std::uint64_t quanta = count_hits(hits_);
    message.add({residual().subspan(starts_[p], parts_[p]),
                 thresholds_[p],
                 quanta,
                 hits_,
                 {},
                 0});
    quanta_[p] = static_cast<std::int64_t>(quanta);
    total += quanta_[p];
  }
  return total;
}

void ThresholdEncoder::undo(std::span<const float> update) {
  require(update.size() == elements_, "size of the update");
  for (const Taken& piece : taken_) {
    const auto part = residual().subspan(starts_[piece.part]);
    for_each_hit(hits_of(piece), [&](std::uint64_t i) {
      part[i] += std::copysign(thresholds_[piece.part], part[i]);
    });
    for (std::size_t i = piece.at; i < piece.at + piece.elements; ++i)
      residual()[i] -= update[i];
  }
  taken_.clear();
}

}  // namespace dl::exchange
