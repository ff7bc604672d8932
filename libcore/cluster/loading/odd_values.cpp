// Detection of examples with values out of all proportion.

#include "libcore/cluster/loading/odd_values.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"

namespace dl::cluster {

namespace {

template <typename T>
double value_of(const tensor::Tensor& tensor, std::int64_t example) {
  const std::span<const T> values = tensor.as<T>();
  const std::size_t width =
      values.size() / static_cast<std::size_t>(tensor.shape()[0]);
  const auto row =
      values.subspan(static_cast<std::size_t>(example) * width, width);
  T largest = 0;
  for (const T& value : row) {
    if (std::isnan(value)) return static_cast<double>(value);
    if (std::fabs(value) > std::fabs(largest)) largest = value;
  }
  return static_cast<double>(largest);
}

// Largest value of the example: the value that is largest without its sign, or
// NaN.
double largest_value(const tensor::Tensor& tensor, std::int64_t example) {
  return tensor.dtype() == tensor::DType::kF64
             ? value_of<double>(tensor, example)
             : value_of<float>(tensor, example);
}

bool has_reals(const std::string& name, const tensor::Tensor& tensor) {
  return tensor::is_real(tensor.dtype()) && !data::names_example(name);
}

}  // namespace

void OddValues::learn(const data::DataSet& record) {
  for (const auto& [name, tensor] : record.tensors) {
    if (!has_reals(name, tensor)) continue;
    std::vector<double>& largest = largest_[name];
    for (std::int64_t i = 0; i < record.examples(); ++i)
      if (const double value = std::fabs(largest_value(tensor, i)); value > 0)
        largest.push_back(value);
    std::ranges::sort(largest);
  }
}

std::string OddValues::of(const data::DataSet& record,
                          std::span<const std::uint32_t> examples) const {
  for (const auto& [name, tensor] : record.tensors) {
    const auto known = largest_.find(name);
    if (known == largest_.end() || known->second.empty() ||
        !has_reals(name, tensor))
      continue;
    const double usual = known->second[known->second.size() / 2];
    for (const std::uint32_t i : examples) {
      const double value = largest_value(tensor, i);
      if (std::fabs(value) <= kOdd * usual) continue;
      return "example " + std::to_string(i) + ": " + name + " has a value of " +
             format("%.3g", value) +
             ", and half of all examples have none above " +
             format("%.3g", usual);
    }
  }
  return "";
}

}  // namespace dl::cluster
