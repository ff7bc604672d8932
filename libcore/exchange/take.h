// One pass over a residual: add the update, compare, take the quanta out.

#ifndef DL_LIBCORE_EXCHANGE_TAKE_H_
#define DL_LIBCORE_EXCHANGE_TAKE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::exchange {

// 64 elements of which some reach the threshold: bit i is element 64 * word +
// i.
struct HitWord {
  std::uint64_t word = 0;
  std::uint64_t hits = 0;      // not 0
  std::uint64_t negative = 0;  // those of them that are less than 0
};

// Words of n elements, the last one may be partial.
constexpr std::size_t words_of(std::size_t n) { return (n + 63) / 64; }

// r += update (empty: nothing); then r -= copysign(threshold, r) where |r| >=
// threshold.  NaN never is.  Writes the words that have hits to `out`, in
// order, and returns how many; `out` has room for words_of(r.size()).
std::size_t take_over(std::span<float> r, std::span<const float> update,
                      float threshold, HitWord* out);

// The same hits, but x stays.
std::size_t select_over(std::span<const float> x, float threshold,
                        HitWord* out);

inline std::uint64_t count_hits(std::span<const HitWord> words) {
  std::uint64_t count = 0;
  for (const HitWord& w : words)
    count += static_cast<std::uint64_t>(std::popcount(w.hits));
  return count;
}

// Calls visit(index, negative) for each hit, ascending.
template <typename Visit>
void for_each_hit(std::span<const HitWord> words, const Visit& visit) {
  for (const HitWord& w : words)
    for (std::uint64_t m = w.hits; m != 0; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      visit(64 * w.word + i, (w.negative >> i & 1) != 0);
    }
}

// The ways there are on this processor, the best one first; each works on
// `words` times 64 elements and gives the same bits.  update may be null.
struct TakeWay {
  const char* name;
  std::size_t (*take)(float* r, const float* update, float threshold,
                      std::size_t words, HitWord* out);
  std::size_t (*select)(const float* x, float threshold, std::size_t words,
                        HitWord* out);
};
std::vector<TakeWay> take_ways();

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_TAKE_H_
