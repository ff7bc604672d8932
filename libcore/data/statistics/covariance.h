// Mean and covariance of columns, gathered in one pass.

#ifndef DL_LIBCORE_DATA_STATISTICS_COVARIANCE_H_
#define DL_LIBCORE_DATA_STATISTICS_COVARIANCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace dl::data {

class Covariance {
 public:
  explicit Covariance(std::int64_t columns);

  // values: any number of rows of these columns, of any dtype.  mask (or null):
  // marks for as many rows each; rows of a mark 0 are left out.  name: of the
  // values, for messages.
  // Throws Error: kData, a value that counts is not finite, or beyond 1e140.
  void add(const tensor::Tensor& values, const tensor::Tensor* mask,
           const std::string& name);

  std::int64_t columns() const { return columns_; }
  std::int64_t count() const { return count_; }  // rows
  const std::vector<double>& mean() const { return mean_; }
  // [columns, columns], the lower triangle: of the whole population, divided by
  // count().  count() > 0.
  std::vector<double> matrix() const;

 private:
  void add_block();

  std::int64_t columns_, count_ = 0;
  std::vector<double> mean_;
  std::vector<double> products_;  // of deviations from the mean, summed
  std::vector<double> block_;     // rows that are still to be added
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_COVARIANCE_H_
