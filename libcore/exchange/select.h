// Which elements reach the threshold, 64 to a word.

#ifndef DL_LIBCORE_EXCHANGE_SELECT_H_
#define DL_LIBCORE_EXCHANGE_SELECT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::exchange {

// Sets bit i % 64 of masks[i / 64] where |x[i]| >= threshold; the bits past the
// end are 0, and NaN is never selected.  masks holds (x.size() + 63) / 64
// words.  Returns the number of bits set.  AVX-512 or AVX2 where the processor
// has it; every way gives the same bits.
std::int64_t select_over(std::span<const float> x, float threshold,
                         std::span<std::uint64_t> masks);

// The ways there are on this processor, the best one first; each makes the
// masks of `words` times 64 elements.
struct SelectWay {
  const char* name;
  void (*select)(const float* x, float threshold, std::uint64_t* masks,
                 std::size_t words);
};
std::vector<SelectWay> select_ways();

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_SELECT_H_
