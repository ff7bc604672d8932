// Sums and extremes of float32 numbers, of as many at once as a processor adds
// at once: that is what summaries of a run take time for.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MOMENTS_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MOMENTS_H_

#include <cstddef>
#include <span>

namespace dl::cluster {

class Moments {
 public:
  void add(std::span<const float> values);

  std::size_t count() const noexcept { return count_; }
  double sum() const noexcept { return sum_; }
  double squares() const noexcept { return squares_; }
  // 0: there are no numbers.
  double low() const noexcept { return low_; }
  double high() const noexcept { return high_; }

 private:
  std::size_t count_ = 0;
  double sum_ = 0, squares_ = 0;
  float low_ = 0, high_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MOMENTS_H_
