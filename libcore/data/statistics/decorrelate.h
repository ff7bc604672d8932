// Normalizers that turn columns into others which do not depend on each other
// linearly: each a weighted sum of all.

#ifndef DL_LIBCORE_DATA_STATISTICS_DECORRELATE_H_
#define DL_LIBCORE_DATA_STATISTICS_DECORRELATE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "libcore/data/statistics/covariance.h"
#include "libcore/data/statistics/normalizer.h"

namespace dl::data {

// Columns whose covariance can be gathered.
constexpr std::int64_t kMaxCovarianceColumns = 4096;

// Added to the eigenvalues of the correlations: a direction in which the
// columns hardly vary is not blown up more than a hundred times.
constexpr double kWhitenEpsilon = 1e-4;

// As --normalize has them: "pca:50" or "whiten".
struct Decorrelation {
  std::optional<std::int64_t> components;  // of pca
  // Nothing: it is another kind.
  // Throws Error: kUsage, "pca" without a number of components from 1 on.
  static std::optional<Decorrelation> of(std::string_view kind);
};

// "pca": the components along which the columns vary most, the first the most,
// centred.
struct PrincipalComponents {
  Normalizer normalizer;
  double share = 1;  // of the columns' variance, which they keep
  // Directions in which the columns vary at all; components beyond are
  // rounding.
  std::int64_t rank = 0;
  double deviation = 0;  // of the first component
};
// 1 <= components <= columns.
PrincipalComponents principal_components(const Covariance& covariance,
                                         std::int64_t components);

// "whiten": the columns, standardized, times (C + kWhitenEpsilon)^(-1/2), C
// being their correlations: of all columns without correlations and of
// deviation 1 those that are most like them (ZCA; Kessy, Lewin and Strimmer
// 2018).  dtype: of the values; a column that is constant, up to the rounding
// of that, is only shifted.
Normalizer whitening(const Covariance& covariance, tensor::DType dtype);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_DECORRELATE_H_
