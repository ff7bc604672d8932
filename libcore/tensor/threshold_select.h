// One pass over a residual: add the update, compare, take the quanta out.

#ifndef DL_LIBCORE_TENSOR_THRESHOLD_SELECT_H_
#define DL_LIBCORE_TENSOR_THRESHOLD_SELECT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::tensor {

// Up to 64 elements of which some reach the threshold: bit i is element
// first + i.
struct HitWord {
  std::uint64_t first = 0;
  std::uint64_t hits = 0;  // not 0
};

// Most words that a pass over n elements writes: one may be left over at either
// end.
constexpr std::size_t most_words(std::size_t n) { return n / 64 + 2; }

// Elements until a cache line begins.
inline std::size_t to_line(const float* x) {
  return (-reinterpret_cast<std::uintptr_t>(x) & 63U) / sizeof(float);
}

// r += update (empty: nothing); then |r| -= threshold where |r| >= threshold:
// the sign stays, of zero too.  NaN never is.  Writes the words that have hits
// to `out`, in order, and returns how many; `out` has room for
// most_words(r.size()).  The first element is called `first`.  Adds the sum of
// the update to `given`.
std::size_t take_over(std::span<float> r, std::span<const float> update,
                      float threshold, std::uint64_t first, HitWord* out,
                      double& given);

// The same hits, but x stays.
std::size_t select_over(std::span<const float> x, float threshold,
                        HitWord* out);

inline std::uint64_t count_hits(std::span<const HitWord> words) {
  std::uint64_t count = 0;
  for (const HitWord& w : words)
    count += static_cast<std::uint64_t>(std::popcount(w.hits));
  return count;
}

// Calls visit(index) for each hit, ascending.
template <typename Visit>
void for_each_hit(std::span<const HitWord> words, const Visit& visit) {
  for (const HitWord& w : words)
    for (std::uint64_t m = w.hits; m != 0; m &= m - 1)
      visit(w.first + static_cast<std::uint64_t>(__builtin_ctzll(m)));
}

// The ways there are on this processor, the best one first; each works on
// `words` times 64 elements and gives the same bits, but for rounding of the
// sum.  update may be null.
struct TakeWay {
  const char* name;
  std::size_t (*take)(float* r, const float* update, float threshold,
                      std::size_t words, std::uint64_t first, HitWord* out,
                      double& given);
  std::size_t (*select)(const float* x, float threshold, std::size_t words,
                        std::uint64_t first, HitWord* out);
};
std::vector<TakeWay> take_ways();

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_THRESHOLD_SELECT_H_
