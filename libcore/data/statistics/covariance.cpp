// One pass over columns for mean and covariance.

#include "libcore/data/statistics/covariance.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/data/statistics/statistics.h"
#include "libcore/linalg/products.h"

namespace dl::data {
namespace {

constexpr std::int64_t kBlock = 512;  // rows: a product worth its call

double checked(double value, std::size_t column, const std::string& name) {
  // NaN is not below anything.
  if (!(std::fabs(value) <= kMaxStatisticsValue))
    throw Error{Code::kData, name + " have a value in column " +
                                 std::to_string(column) +
                                 " that is not finite, or beyond 1e140"};
  return value;
}

}  // namespace

Covariance::Covariance(std::int64_t columns)
    : columns_(columns),
      mean_(static_cast<std::size_t>(columns)),
      products_(static_cast<std::size_t>(columns * columns)) {
  require(columns > 0, "a covariance of no columns");
}

void Covariance::add(const tensor::Tensor& values, const tensor::Tensor* mask,
                     const std::string& name) {
  const std::int64_t rows = values.elements() / columns_;
  const std::int64_t marks = mask != nullptr ? mask->elements() : rows;
  require(
      rows * columns_ == values.elements() && marks > 0 && rows % marks == 0,
      "rows of a covariance that do not fit");
  const auto columns = static_cast<std::size_t>(columns_);
  const auto room = static_cast<std::size_t>(kBlock) * columns;
  tensor::visit_dtype(values.dtype(), [&]<typename T>() {
    const T* x = values.as<T>().data();
    for (std::int64_t row = 0; row < rows; ++row, x += columns) {
      if (mask != nullptr && mask->value(row / (rows / marks)) == 0) continue;
      for (std::size_t c = 0; c < columns; ++c)
        block_.push_back(checked(static_cast<double>(x[c]), c, name));
      if (block_.size() == room) add_block();
    }
  });
  add_block();
}

// As Statistics::merge(): around the block's own mean, then what the distance
// of the two means adds.  Chan, Golub, LeVeque 1979.
void Covariance::add_block() {
  const auto columns = static_cast<std::size_t>(columns_);
  const std::size_t rows = block_.size() / columns;
  if (rows == 0) return;
  std::vector<double> own(columns);
  for (std::size_t i = 0; i < block_.size(); ++i) own[i % columns] += block_[i];
  for (double& mean : own) mean /= static_cast<double>(rows);
  for (std::size_t i = 0; i < block_.size(); ++i) block_[i] -= own[i % columns];
  linalg::add_squares(products_.data(), columns_, block_.data(),
                      static_cast<std::int64_t>(rows));
  const auto a = static_cast<double>(count_), b = static_cast<double>(rows);
  const double weight = std::sqrt(a * b / (a + b));
  for (std::size_t c = 0; c < columns; ++c) {
    own[c] -= mean_[c];
    mean_[c] += own[c] * (b / (a + b));
    own[c] *= weight;
  }
  linalg::add_squares(products_.data(), columns_, own.data(), 1);
  count_ += static_cast<std::int64_t>(rows);
  block_.clear();
}

std::vector<double> Covariance::matrix() const {
  require(count_ > 0, "the covariance of nothing");
  std::vector<double> matrix = products_;
  for (double& sum : matrix) sum /= static_cast<double>(count_);
  return matrix;
}

}  // namespace dl::data
