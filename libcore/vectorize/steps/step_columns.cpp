#include "libcore/vectorize/steps/step_columns.h"

#include <algorithm>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

const StepColumn* StepColumns::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &StepColumn::name);
  return found == columns_.end() ? nullptr : &*found;
}

StepColumn StepColumns::need(const std::string& name) {
  if (const StepColumn* known = find(name)) {
    reads_.push_back(known->slot);
    return *known;
  }
  const auto gone = gone_.find(name);
  if (gone != gone_.end() || !closed_by_.empty()) {
    std::vector<std::string> names;
    names.reserve(columns_.size());
    for (const StepColumn& column : columns_) names.push_back(column.name);
    const std::string near = nearest(name, names);
    bad_config("there is no column " + in_quotes(name) + " after " +
               (gone != gone_.end() ? gone->second : closed_by_) +
               (near.empty() ? "" : "; did you mean " + in_quotes(near) + "?"));
  }
  const std::size_t slot = slots_++;
  taken_.push_back({name, place_, slot});
  columns_.push_back({name, ValueType::kAny, slot});
  reads_.push_back(slot);
  return columns_.back();
}

std::size_t StepColumns::make(const std::string& name, ValueType type) {
  const std::size_t slot = slots_++;
  const auto found = std::ranges::find(columns_, name, &StepColumn::name);
  if (found != columns_.end())
    *found = {name, type, slot};
  else
    columns_.push_back({name, type, slot});
  gone_.erase(name);
  makes_.push_back(slot);
  return slot;
}

std::size_t StepColumns::add(const std::string& name, ValueType type) {
  if (has(name))
    bad_config("there is a column " + in_quotes(name) +
               " already; drop or rename it first");
  const bool was_dropped = gone_.contains(name) || !closed_by_.empty();
  const std::size_t slot = make(name, type);
  if (!was_dropped) added_.push_back({name, place_, slot});
  return slot;
}

void StepColumns::remove(const std::string& name) {
  (void)need(name);
  std::erase_if(columns_, [&](const auto& c) { return c.name == name; });
  gone_[name] = place_;
}

void StepColumns::rename(const std::map<std::string, std::string>& names) {
  for (const auto& [from, to] : names) {
    const std::size_t slot = need(from).slot;
    // No column of the input is replaced without a word.
    if (!names.contains(to) && !gone_.contains(to) && closed_by_.empty())
      added_.push_back({to, place_, slot});
  }
  for (StepColumn& column : columns_)
    if (const auto to = names.find(column.name); to != names.end()) {
      gone_[column.name] = place_;
      column.name = to->second;
    }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    gone_.erase(columns_[i].name);
    for (std::size_t k = 0; k < i; ++k)
      if (columns_[k].name == columns_[i].name)
        bad_config("there would be two columns " + in_quotes(columns_[i].name));
  }
}

void StepColumns::keep(const std::vector<std::string>& names) {
  std::vector<StepColumn> kept;
  kept.reserve(names.size());
  for (const std::string& name : names) kept.push_back(need(name));
  columns_ = std::move(kept);
  closed_by_ = place_;
}

std::vector<std::size_t> StepColumns::take_reads() {
  return std::exchange(reads_, {});
}
std::vector<std::size_t> StepColumns::take_makes() {
  return std::exchange(makes_, {});
}

}  // namespace dl::vectorize
