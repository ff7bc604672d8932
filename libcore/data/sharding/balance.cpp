// Counts of classes, and the examples that make them equal.

#include "libcore/data/sharding/balance.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/philox.h"

namespace dl::data {
namespace {

constexpr std::uint64_t kBalanceStream = 5;  // use of the seed

}  // namespace

bool has_class_numbers(const Metadata& data) {
  const auto labels = data.schema.find("labels");
  return labels != data.schema.end() &&
         !tensor::is_real(labels->second.dtype) &&
         labels->second.shape.rank() == 0;
}

void check_class_numbers(const Metadata& data, const std::string& option) {
  if (!has_class_numbers(data))
    throw Error{Code::kUsage, option +
                                  " needs a class number for each example, "
                                  "which the input does not have"};
}

std::int64_t class_of(const DataSet& set, std::int64_t i) {
  const tensor::Tensor& labels = set.get("labels");
  return tensor::visit_dtype(labels.dtype(), [&]<typename T>() {
    return static_cast<std::int64_t>(
        labels.as<T>()[static_cast<std::size_t>(i)]);
  });
}

ClassBalance::ClassBalance(const std::string& way, std::uint64_t seed,
                           const Metadata& data)
    : over_(way == "over"), seed_(seed) {
  if (!over_ && way != "under")
    throw Error{Code::kUsage,
                "--balance: want over or under, got " + in_quotes(way)};
  check_class_numbers(data, "--balance");
}

void ClassBalance::count(const DataSet& set) {
  for (std::int64_t i = 0; i < set.examples(); ++i) ++counts_[class_of(set, i)];
}

std::int64_t ClassBalance::wanted() const {
  const auto [least, most] = std::ranges::minmax_element(
      counts_, {}, [](const auto& entry) { return entry.second; });
  return over_ ? most->second : least->second;
}

std::int64_t ClassBalance::times(std::int64_t label) {
  const std::int64_t own = counts_.at(label), all = wanted();
  SystematicSample& sample = samples_[label];
  const auto words =
      philox(mix({seed_, kBalanceStream, static_cast<std::uint64_t>(label)}),
             static_cast<std::uint64_t>(sample.seen()), 0);
  const double part = static_cast<double>(all % own) / static_cast<double>(own);
  return all / own + (sample.takes(part, words[0] * 0x1p-32) ? 1 : 0);
}

std::string ClassBalance::sentence(
    const std::vector<std::string>& names) const {
  constexpr std::size_t kMostClasses = 10;
  std::string text = std::string("balanced by ") +
                     (over_ ? "oversampling: " : "undersampling: ");
  std::size_t shown = 0;
  for (const auto& [label, count] : counts_) {
    if (++shown > kMostClasses) return text + ", ...";
    const auto place = static_cast<std::size_t>(label);
    text += (shown > 1 ? ", " : "") +
            (place < names.size() ? clipped(names[place])
                                  : "class " + std::to_string(label)) +
            " " + std::to_string(count);
    if (count != wanted()) text += " to " + std::to_string(wanted());
  }
  return text;
}

}  // namespace dl::data
