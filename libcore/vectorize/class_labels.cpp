#include "libcore/vectorize/class_labels.h"

#include <charconv>

#include "libcore/base/error.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Numbering every integer up to a label makes room for a slip of the keyboard.
constexpr std::int64_t kMaxClasses = 1 << 20;

}  // namespace

ClassLabels::ClassLabels(std::string_view spec) {
  if (spec.empty()) return;
  fixed_ = true;
  std::int64_t count = 0;
  if (parse_integer(spec, count)) {
    if (count < 1 || count > kMaxClasses)
      throw Error{Code::kUsage, "--classes: want 1.." +
                                    std::to_string(kMaxClasses) + ", got '" +
                                    std::string(spec) + "'"};
    for (std::int64_t i = 0; i < count; ++i) add(std::to_string(i));
    return;
  }
  for (const std::string& name : split(spec, ',')) {
    if (name.empty()) throw Error{Code::kUsage, "--classes: a name is empty"};
    if (numbers_.contains(name))
      throw Error{Code::kUsage, "--classes: '" + name + "' is there twice"};
    add(name);
  }
}

void ClassLabels::add(std::string name) {
  numbers_.emplace(name, static_cast<std::int64_t>(names_.size()));
  names_.push_back(std::move(name));
}

std::int64_t ClassLabels::index(std::string_view name) {
  if (auto found = numbers_.find(name); found != numbers_.end())
    return found->second;
  if (fixed_ || static_cast<std::int64_t>(names_.size()) >= kMaxClasses)
    return -1;
  add(std::string(name));
  return static_cast<std::int64_t>(names_.size()) - 1;
}

std::int64_t ClassLabels::index(std::int64_t label) {
  if (label < 0 || label >= kMaxClasses) return -1;
  auto known = static_cast<std::int64_t>(names_.size());
  if (label >= known && fixed_) return -1;
  for (; known <= label; ++known) add(std::to_string(known));
  return label;
}

std::string ClassLabels::complaint(std::string_view got) const {
  std::string text = "want ";
  if (names_.size() == 1) text += "class '" + names_[0] + "'";
  if (names_.size() > 1)
    text += "one of " + std::to_string(names_.size()) + " classes ('" +
            names_.front() + "' to '" + names_.back() + "')";
  if (names_.empty()) text += "a class label";
  return text + ", got '" + std::string(got) + "'";
}

}  // namespace dl::vectorize
