// Quantiles of any number of values in bounded memory: exact up to kExact
// values, then of a sample whose error is known.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_QUANTILES_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_QUANTILES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dl::vectorize {

// Levels of values, each of which stands for twice as many as one of the level
// below: a full level is sorted, and every other value of it goes up.
class Quantiles {
 public:
  static constexpr std::size_t kExact = 1 << 16;

  void add(double value);
  // The value below which a share of 0..1 lies, between two neighbors in
  // proportion, as NumPy does it; NaN without values.
  double at(double share) const;
  // How far the rank of at() may be off, as a share; 0: it is exact.
  double error() const;

 private:
  void compact(std::size_t level);
  std::vector<std::vector<double>> levels_{1};
  std::vector<bool> odd_{false};  // which half of a level goes up next
  std::int64_t count_ = 0;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_QUANTILES_H_
