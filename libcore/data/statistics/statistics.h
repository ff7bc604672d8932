// Mean, spread and range of features or real labels, gathered in one pass,
// mergeable.
//
// One entry for each index of the last dimension ("column"): a channel of an
// image, a column of a table.  Masked time steps are left out.

#ifndef DL_LIBCORE_DATA_STATISTICS_STATISTICS_H_
#define DL_LIBCORE_DATA_STATISTICS_STATISTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/tensor/tensor.h"

namespace dl::data {

// Largest value whose squares can be summed in any number without overflow.
constexpr double kMaxStatisticsValue = 1e140;

struct Statistics {
  std::int64_t examples = 0;
  std::int64_t count = 0;  // values in each column
  std::vector<double> mean;
  std::vector<double> m2;  // sum of squared deviations (Welford)
  std::vector<double> min;
  std::vector<double> max;

  // The sets whose statistics join() put together, if any.
  std::vector<Statistics> joined;

  // values: [n, ..., columns] of any dtype; a rank-1 tensor is one column, and
  // so is one that has a mask of its own shape.  mask (or null): [n, time], for
  // values [n, time, columns].  name: of the values, for messages.
  // Throws Error: kData, a value is not finite, or so large that statistics
  // are not, the columns differ.
  void add(const tensor::Tensor& values, const tensor::Tensor* mask,
           const std::string& name = "features");
  // Adds the statistics of other examples. Chan, Golub, LeVeque 1979. Throws
  // Error: kData, the columns differ, or there are too many examples.
  void merge(const Statistics& other);
  // Joins the statistics that another shard carries. All shards of a set carry
  // the same, those of the whole set, so equal ones count once, in whatever
  // order they come. Throws Error: kData, as merge().
  void join(const Statistics& other);

  // Population standard deviation of each column.
  std::vector<double> deviation() const;

  bool operator==(const Statistics&) const = default;

  Json to_json() const;
  // Throws Error: kData, they contradict themselves.
  static Statistics from_json(const JsonView& json);

 private:
  void fold(const Statistics& other);
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_STATISTICS_H_
