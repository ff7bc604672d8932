// One pass over columns for mean, deviation and range.

#include "libcore/data/statistics/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/data/statistics/pixel_sums.h"

namespace dl::data {
namespace {

constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

// Rows of `columns` values that take part, and how many there are.
struct Rows {
  std::int64_t rows, columns;
  std::vector<bool> used;  // empty: all
};

Rows rows_of(const tensor::Tensor& values, const tensor::Tensor* mask,
             const std::string& name) {
  const tensor::Shape& shape = values.shape();
  Rows rows;
  const bool single = shape.rank() == 1 || (mask && mask->shape() == shape);
  rows.columns = single ? 1 : shape.back();
  rows.rows = rows.columns == 0 ? 0 : shape.elements() / rows.columns;
  if (!mask) return rows;
  // A mask of [n] stands for all rows of its example.
  const std::int64_t marks = mask->elements();
  if (marks == 0 || rows.rows % marks != 0)
    throw Error{Code::kData, "a mask of shape " + mask->shape().to_string() +
                                 " does not fit " + name + " of shape " +
                                 shape.to_string()};
  const std::int64_t repeat = rows.rows / marks;
  for (std::int64_t i = 0; i < rows.rows; ++i)
    rows.used.push_back(mask->value(i / repeat) != 0);
  return rows;
}

// Calls f(row) for the rows that count.
template <typename F>
void each_row(const Rows& rows, F&& f) {
  for (std::int64_t i = 0; i < rows.rows; ++i)
    if (rows.used.empty() || rows.used[static_cast<std::size_t>(i)]) f(i);
}

// Sums of a few columns, in arrays, which stay in registers.
template <typename Doubles>
struct Sums {
  Doubles mean, m2, min, max;
};

template <std::size_t N, typename F>
void each_column(const std::array<double, N>&, F&& f) {
  [&]<std::size_t... C>(std::index_sequence<C...>) { (f(C), ...); }
  (std::make_index_sequence<N>());
}

// The first pass: sums and ranges.
template <typename T, typename Doubles>
std::int64_t add_up(const Rows& rows, const T* values, Sums<Doubles>& sums) {
  std::int64_t count = 0;
  each_row(rows, [&](std::int64_t row) {
    const T* x = values + row * rows.columns;
    ++count;
    each_column(sums.mean, [&](std::size_t c) {
      const auto value = static_cast<double>(x[c]);
      sums.mean[c] += value;
      sums.min[c] = std::min(sums.min[c], value);
      sums.max[c] = std::max(sums.max[c], value);
    });
  });
  return count;
}

// Two passes over the values at hand: exact where one pass would cancel.
// first: the column of sums[0], whose first value is values[0]. Returns how
// many rows there are.
template <typename T, typename Doubles>
std::int64_t gather(const Rows& rows, const T* values, std::size_t first,
                    const std::string& name, Sums<Doubles>& sums) {
  const std::int64_t count = add_up(rows, values, sums);
  if (count == 0) return 0;
  for (std::size_t c = 0; c < sums.mean.size(); ++c) {
    const bool finite =
        std::isfinite(sums.min[c]) && std::isfinite(sums.max[c]);
    if (std::isnan(sums.mean[c]) || !finite)
      throw Error{Code::kData, name + " have a value in column " +
                                   std::to_string(first + c) +
                                   " that is not finite"};
    if (-sums.min[c] > kMaxStatisticsValue || sums.max[c] > kMaxStatisticsValue)
      throw Error{Code::kData, name + " have a value in column " +
                                   std::to_string(first + c) +
                                   " that is beyond 1e140, too large for "
                                   "statistics"};
    sums.mean[c] /= static_cast<double>(count);
  }
  // Arrays of the loop's own stay in registers, whatever bytes may alias.
  const Doubles mean = sums.mean;
  Doubles m2 = sums.m2;
  each_row(rows, [&](std::int64_t row) {
    const T* x = values + row * rows.columns;
    each_column(mean, [&](std::size_t c) {
      const double d = static_cast<double>(x[c]) - mean[c];
      m2[c] += d * d;
    });
  });
  sums.m2 = m2;
  return count;
}

// N columns from `first` on.
template <std::size_t N, typename T>
void gather_few(const Rows& rows, const T* values, std::size_t first,
                const std::string& name, Statistics& out) {
  Sums<std::array<double, N>> sums{};
  std::ranges::fill(sums.min, std::numeric_limits<double>::infinity());
  std::ranges::fill(sums.max, -std::numeric_limits<double>::infinity());
  out.count = gather(rows, values + first, first, name, sums);
  const auto put = [&](const std::array<double, N>& own,
                       std::vector<double>& all) {
    std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(first));
  };
  put(sums.mean, out.mean);
  put(sums.m2, out.m2);
  put(sums.min, out.min);
  put(sums.max, out.max);
}

void gather_pixels(const Rows& rows, const std::uint8_t* values,
                   Statistics& out) {
  const std::vector<PixelSums> sums =
      sums_of_pixels(values, static_cast<std::size_t>(rows.rows),
                     static_cast<std::size_t>(rows.columns));
  out.count = rows.rows;
  for (std::size_t c = 0; c < sums.size() && rows.rows > 0; ++c) {
    out.mean[c] =
        static_cast<double>(sums[c].sum) / static_cast<double>(rows.rows);
    out.m2[c] = sums[c].spread(static_cast<std::uint64_t>(rows.rows));
    out.min[c] = sums[c].min;
    out.max[c] = sums[c].max;
  }
}

template <typename T>
void gather(const Rows& rows, const T* values, const std::string& name,
            Statistics& out) {
  const auto columns = static_cast<std::size_t>(rows.columns);
  out.mean.assign(columns, 0);
  out.m2.assign(columns, 0);
  out.min.assign(columns, std::numeric_limits<double>::infinity());
  out.max.assign(columns, -std::numeric_limits<double>::infinity());
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (rows.used.empty() && (columns == 1 || columns == 3))
      return gather_pixels(rows, values, out);
  constexpr std::size_t kMany = 8;
  std::size_t first = 0;
  for (; first + kMany <= columns; first += kMany)
    gather_few<kMany>(rows, values, first, name, out);
  for (; first + 3 <= columns; first += 3)
    gather_few<3>(rows, values, first, name, out);
  for (; first < columns; ++first)
    gather_few<1>(rows, values, first, name, out);
}

// Checks that each column's mean lies in its range, except for rounding.
void check_ranges(const Statistics& s, const JsonView& json) {
  for (std::size_t c = 0; c < s.mean.size(); ++c) {
    const double low = s.min[c], high = s.max[c];
    const double most = std::max(std::abs(low), std::abs(high));
    if (!(most <= kMaxStatisticsValue)) json.fail("values up to 1e140");
    const double slack = 1e-6 * most;
    if (!(low <= high && s.mean[c] >= low - slack && s.mean[c] <= high + slack))
      json.fail("min, mean and max in that order, in column " +
                std::to_string(c));
  }
}

}  // namespace

void Statistics::add(const tensor::Tensor& values, const tensor::Tensor* mask,
                     const std::string& name) {
  Statistics part;
  part.examples = values.shape()[0];
  const Rows rows = rows_of(values, mask, name);
  tensor::visit_dtype(values.dtype(), [&]<typename T>() {
    gather(rows, values.as<T>().data(), name, part);
  });
  merge(part);
}

void Statistics::merge(const Statistics& other) {
  joined.clear();
  fold(other);
}

void Statistics::join(const Statistics& other) {
  if (joined.empty()) {
    const Statistics first = *this;
    joined.push_back(first);
  }
  const std::span<const Statistics> sets =
      other.joined.empty() ? std::span(&other, 1) : std::span(other.joined);
  for (const Statistics& set : sets) {
    if (std::find(joined.begin(), joined.end(), set) != joined.end()) continue;
    fold(set);
    joined.push_back(set);
  }
}

void Statistics::fold(const Statistics& other) {
  if (mean.empty() && examples == 0) {
    *this = other;
    return;
  }
  if (other.mean.size() != mean.size())
    throw Error{Code::kData, "statistics of " + std::to_string(mean.size()) +
                                 " and of " +
                                 std::to_string(other.mean.size()) +
                                 " columns cannot be joined"};
  if (other.examples > kMaxCount - examples || other.count > kMaxCount - count)
    throw Error{Code::kData, "statistics of more examples than can be counted"};
  examples += other.examples;
  if (other.count == 0) return;
  const auto a = static_cast<double>(count),
             b = static_cast<double>(other.count);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double delta = other.mean[c] - mean[c];
    mean[c] += delta * (b / (a + b));
    m2[c] += other.m2[c] + delta * delta * (a * b / (a + b));
    min[c] = std::min(min[c], other.min[c]);
    max[c] = std::max(max[c], other.max[c]);
  }
  count += other.count;
}

std::vector<double> Statistics::deviation() const {
  std::vector<double> out;
  out.reserve(m2.size());
  for (const double sum : m2)
    out.push_back(count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0);
  return out;
}

Json Statistics::to_json() const {
  // Without a value there is no range, and JSON has no infinity.
  const bool any = count > 0;
  const std::vector<double> zeros(mean.size(), 0.0);
  return {{"examples", examples},
          {"count", count},
          {"mean", mean},
          {"m2", m2},
          {"min", any ? min : zeros},
          {"max", any ? max : zeros}};
}

Statistics Statistics::from_json(const JsonView& json) {
  Statistics s;
  s.examples = json.at("examples").integer(1, kMaxCount);
  s.count = json.at("count").integer(0, kMaxCount);
  s.mean = json.at("mean").numbers();
  s.m2 = json.at("m2").numbers();
  s.min = json.at("min").numbers();
  s.max = json.at("max").numbers();
  for (const auto* list : {&s.m2, &s.min, &s.max})
    if (list->size() != s.mean.size())
      json.fail("mean, m2, min and max of one length");
  for (const double sum : s.m2)
    if (!(sum >= 0)) json.at("m2").fail("numbers that are not negative");
  if (s.count > 0) check_ranges(s, json);
  if (s.count == 0) {
    s.min.assign(s.mean.size(), std::numeric_limits<double>::infinity());
    s.max.assign(s.mean.size(), -std::numeric_limits<double>::infinity());
  }
  return s;
}

}  // namespace dl::data
