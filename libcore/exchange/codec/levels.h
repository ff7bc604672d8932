// A few magnitudes that stand for many.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_LEVELS_H_
#define DL_LIBCORE_EXCHANGE_CODEC_LEVELS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace dl::exchange {

// Ascending magnitudes, each standing for what is nearer to it than to others.
class Levels {
 public:
  // Levels > 0, finite, ascending (equal ones may be); at least one (kBug).
  explicit Levels(std::vector<float> levels);

  // `count` levels with about the least square error for these magnitudes
  // (Lloyd 1982); each is the mean of those nearest to it.  With one level, the
  // mean of all.  magnitudes > 0, finite, at least one.
  static Levels fitted(std::span<const float> magnitudes, std::size_t count);
  // first, first * ratio, ...: by multiplication, the same on every host.
  static Levels geometric(float first, float ratio, std::size_t count);

  std::size_t nearest(float magnitude) const;
  std::span<const float> values() const { return levels_; }

 private:
  std::vector<float> levels_;
  std::vector<float> bounds_;  // limits between neighboring levels
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_LEVELS_H_
