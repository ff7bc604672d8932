#include "libcore/cluster/run_config/class_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "libcore/cluster/run_config/choose_normalizers.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kExamples = 2048;  // looked at
constexpr std::int64_t kFewest = 16;      // in a record that tells
constexpr double kFar = 0.3;  // between shares of the most frequent class

using Counts = std::map<double, std::int64_t>;

std::int64_t most_in(const Counts& counts) {
  std::int64_t most = 0;
  for (const auto& [kind, count] : counts) most = std::max(most, count);
  return most;
}

bool has_classes(const std::string& name, const data::Field& field) {
  using enum tensor::DType;
  return (name == "labels" || name.starts_with("labels/")) &&
         field.dtype != kF32 && field.dtype != kF64 && field.dtype != kBF16 &&
         field.shape.rank() == 0;
}

// Counts for one tensor of labels.
class Order {
 public:
  void add(const tensor::Tensor& labels) {
    const std::int64_t examples = labels.shape()[0];
    if (examples < kFewest) return;
    Counts here;
    for (std::int64_t i = 0; i < examples; ++i) ++here[labels.value(i)];
    for (const auto& [kind, count] : here) together_[kind] += count;
    examples_ += examples;
    alone_ += most_in(here);
  }
  bool is_by_class() const {
    return examples_ > 0 && static_cast<double>(alone_ - most_in(together_)) >=
                                kFar * static_cast<double>(examples_);
  }

 private:
  Counts together_;
  std::int64_t examples_ = 0;
  std::int64_t alone_ = 0;  // examples of the most frequent class of a record
};

}  // namespace

bool is_in_class_order(MasterData& data) {
  std::map<std::string, Order> orders;
  for (const auto& [name, field] : data.metadata().schema)
    if (has_classes(name, field)) orders[name];
  if (orders.empty()) return false;
  read_some(data, kExamples, [&](const data::DataSet& set) {
    for (auto& [name, order] : orders)
      if (const auto found = set.tensors.find(name); found != set.tensors.end())
        order.add(found->second);
  });
  return std::ranges::any_of(
      orders, [](const auto& each) { return each.second.is_by_class(); });
}

}  // namespace dl::cluster
