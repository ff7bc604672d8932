#include "libcore/cluster/run_config/class_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/cluster/run_config/choose_normalizers.h"

namespace dl::cluster {

namespace {

constexpr std::int64_t kExamples = 2048;  // looked at
constexpr std::int64_t kFewest = 16;      // in a record that tells
// The association of records and classes, 0 to 1, as Cramér's V squared.
constexpr double kFar = 0.3;

using Counts = std::map<double, std::int64_t>;

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
    Record& here = records_.emplace_back();
    here.examples = examples;
    for (std::int64_t i = 0; i < examples; ++i) ++here.counts[labels.value(i)];
    for (const auto& [kind, count] : here.counts) together_[kind] += count;
    examples_ += examples;
  }

  // Chi-squared of records and classes, less than chance gives it.
  bool is_by_class() const {
    const std::size_t least = std::min(records_.size(), together_.size());
    if (least < 2) return false;
    const auto all = static_cast<double>(examples_);
    double squares = 0;
    for (const Record& record : records_)
      for (const auto& [kind, count] : together_) {
        const auto found = record.counts.find(kind);
        const auto own = static_cast<double>(
            found == record.counts.end() ? 0 : found->second);
        const double usual = static_cast<double>(record.examples) *
                             static_cast<double>(count) / all;
        squares += (own - usual) * (own - usual) / usual;
      }
    const auto by_chance =
        static_cast<double>((records_.size() - 1) * (together_.size() - 1));
    return squares - by_chance >= kFar * static_cast<double>(least - 1) * all;
  }

 private:
  struct Record {
    std::int64_t examples = 0;
    Counts counts;
  };
  std::vector<Record> records_;
  Counts together_;
  std::int64_t examples_ = 0;
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
