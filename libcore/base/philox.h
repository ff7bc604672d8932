// Philox4x32-10: random numbers as a function of (key, counter).
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011.  A number depends on its key and position alone, so any thread,
// host or device draws the same one, and a run that resumes repeats it.

#ifndef DL_LIBCORE_BASE_PHILOX_H_
#define DL_LIBCORE_BASE_PHILOX_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

namespace dl {

// Four words for the 64-bit key and the 128-bit counter {lo, hi}.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t lo,
                                    std::uint64_t hi);

// A stream of numbers: `seed` names the run, `stream` the use within it.
// Satisfies UniformRandomBitGenerator.  Not thread-safe; copies go on alike.
class Philox {
 public:
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT32_MAX; }

  Philox(std::uint64_t seed, std::uint64_t stream)
      : seed_(seed), stream_(stream) {}

  result_type operator()();
  // Goes on behind the first `numbers` of the stream.
  void seek(std::uint64_t numbers);
  std::uint64_t next64();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), bound > 0
  double uniform();                          // in [0, 1), 53 bits
  double normal();                           // mean 0, variance 1 (Box-Muller)

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  unsigned used_ = 4;
  std::array<std::uint32_t, 4> words_{};
};

// Mixes numbers into one, to make a stream out of (epoch, shard, ...).
std::uint64_t mix(std::initializer_list<std::uint64_t> parts);

// Fisher-Yates; the same seed and size give the same order everywhere.
template <typename T>
void shuffle(std::span<T> items, Philox& random) {
  for (std::uint64_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_PHILOX_H_
