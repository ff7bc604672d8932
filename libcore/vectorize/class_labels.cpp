#include "libcore/vectorize/class_labels.h"

#include <array>
#include <charconv>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kMaxClasses = 1 << 20;
// Where --classes does not say how many there are: a column of names, or a slip
// of the keyboard, as numbering every integer up to a label shows.
constexpr std::int64_t kMaxOpen = 1 << 16;
constexpr std::size_t kMaxName = 256;  // bytes
// More of them are no classes but a quantity.
constexpr int kMaxNumbers = 1000, kMaxFractions = 32;
// And so they may be above this, with fewer labels each on average.
constexpr std::int64_t kManyClasses = 20, kFewLabels = 10;

// Whether it is a number that doubles tell apart as its digits are.
bool is_exact(std::string_view name, double& value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  return parse_number(name, value) && std::abs(value) < kExact;
}

// The shortest text of a number.
std::string plain(double value) {
  std::array<char, 32> text{};
  if (value == 0) value = 0;  // of -0
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

ClassLabels::ClassLabels(std::string_view spec) {
  if (spec.empty()) return;
  fixed_ = true;
  std::int64_t count = 0;
  if (parse_integer(spec, count)) {
    if (count < 1 || count > kMaxClasses)
      throw Error{Code::kUsage, "--classes: want 1.." +
                                    std::to_string(kMaxClasses) + ", got '" +
                                    displayed(spec) + "'"};
    for (std::int64_t i = 0; i < count; ++i) add(std::to_string(i));
    return;
  }
  for (const std::string& name : split_list(spec, "--classes")) {
    if (name.empty()) throw Error{Code::kUsage, "--classes: a name is empty"};
    if (find(name) >= 0)
      throw Error{Code::kUsage,
                  "--classes: '" + displayed(name) + "' is there twice"};
    add(name);
  }
}

ClassLabels::ClassLabels(const std::vector<std::string>& names)
    : fixed_(!names.empty()) {
  for (const std::string& name : names) add(name);
}

void ClassLabels::add(std::string name) {
  if (find(name) < 0) {
    different_.at(name);
    numbers_.push_back(std::ssize(names_));
  }
  names_.push_back(std::move(name));
}

std::int64_t ClassLabels::index(std::string_view name) {
  if (const std::int64_t found = find(name); found >= 0) {
    ++labels_seen_;
    return found;
  }
  if (fixed_ || !refusal(name).empty()) return -1;
  if (double value = 0; parse_number(name, value)) {
    ++numbers_seen_;
    if (value != std::floor(value)) ++fractions_seen_;
  }
  ++labels_seen_;
  add(std::string(name));
  return static_cast<std::int64_t>(names_.size()) - 1;
}

std::int64_t ClassLabels::index_by_value(std::string_view name) {
  double value = 0;
  if (fixed_) {
    const std::int64_t number = find_by_value(name);
    if (number >= 0) ++labels_seen_;
    return number;
  }
  return find(name) >= 0 || !is_exact(name, value) ? index(name)
                                                   : index(plain(value));
}

std::int64_t ClassLabels::find(std::string_view name) const {
  const std::int64_t place = different_.place(name);
  return place < 0 ? -1 : numbers_[static_cast<std::size_t>(place)];
}

std::int64_t ClassLabels::find_by_value(std::string_view name) const {
  double value = 0;
  if (find(name) >= 0 || !is_exact(name, value)) return find(name);
  for (const std::string& known : names_)
    if (double other = 0; parse_number(known, other) && other == value)
      return find(known);
  return -1;
}

std::int32_t PartClasses::number(std::string_view name) {
  if (last_ >= 0 && names_[static_cast<std::size_t>(last_)] == name)
    return last_;
  auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    found = numbers_
                .emplace(std::string(name),
                         static_cast<std::int32_t>(names_.size()))
                .first;
    names_.emplace_back(name);
  }
  return last_ = found->second;
}

std::int64_t ClassLabels::index(std::int64_t label) {
  if (label < 0 || label >= (fixed_ ? kMaxClasses : kMaxOpen)) return -1;
  auto known = static_cast<std::int64_t>(names_.size());
  if (label >= known && fixed_) return -1;
  for (; known <= label; ++known) add(std::to_string(known));
  ++labels_seen_;
  return label;
}

std::string ClassLabels::refusal(std::string_view name) const {
  if (fractions_seen_ >= kMaxFractions || numbers_seen_ >= kMaxNumbers)
    return "labels are more than " +
           std::to_string(fractions_seen_ >= kMaxFractions ? kMaxFractions
                                                           : kMaxNumbers) +
           " different numbers, up to '" + clipped(name) + "' (" +
           numbers_remedy_ + " if they are to be predicted, " +
           classes_remedy_ + " if they are classes)";
  if (static_cast<std::int64_t>(names_.size()) >= kMaxOpen)
    return "there are more than " + std::to_string(kMaxOpen) +
           " classes, up to '" + clipped(name) + "' (" + classes_remedy_ +
           " if they are meant)";
  if (name.size() > kMaxName)
    return "the class '" + clipped(name) + "' has a name of " +
           std::to_string(name.size()) + " bytes, want " +
           std::to_string(kMaxName) + " at most";
  return not_text("the class", name);
}

std::string ClassLabels::complaint(std::string_view got) const {
  if (!fixed_)
    if (std::string why = refusal(got); !why.empty()) return why;
  std::string text = "want ";
  if (names_.size() == 1) text += "class '" + displayed(names_[0]) + "'";
  if (names_.size() > 1)
    text += "one of " + std::to_string(names_.size()) + " classes ('" +
            displayed(names_.front()) + "' to '" + displayed(names_.back()) +
            "')";
  if (names_.empty()) text += "a class label";
  return text + ", got '" + clipped(got) + "'";
}

std::string ClassLabels::doubt() const {
  const auto count = static_cast<std::int64_t>(names_.size());
  if (!fixed_ && count == 1 && labels_seen_ > 1)
    return "warning: all labels are of one class, '" + clipped(names_.front()) +
           "', so that there is nothing to tell apart (" + classes_remedy_ +
           " if others come elsewhere)";
  if (fixed_ || numbers_seen_ != count || count <= kManyClasses ||
      labels_seen_ >= count * kFewLabels)
    return "";
  return "warning: labels are " + std::to_string(count) + " classes in " +
         std::to_string(labels_seen_) + " rows, all of them numbers, as '" +
         clipped(names_.front()) + "' (" + numbers_remedy_ +
         " if they are to be predicted as numbers, " + classes_remedy_ +
         " if they are classes)";
}

}  // namespace dl::vectorize
