#include "libcore/vectorize/record_columns.h"

namespace dl::vectorize {

ColumnNames::ColumnNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) (void)add(name);
}

bool ColumnNames::add(std::string name) {
  const bool is_new = places_.emplace(name, all_.size()).second;
  if (is_new) all_.push_back(std::move(name));
  return is_new;
}

std::optional<std::size_t> ColumnNames::find(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> RecordColumns::place(std::string_view name) const {
  const auto found = names_ ? names_->find(name) : std::nullopt;
  return found && *found < size() ? found : std::nullopt;
}

bool RecordColumns::emplace(std::string_view name, std::string value) {
  const std::size_t at = size();
  if (!names_ || at >= names_->size() || (*names_)[at] != name) {
    if (contains(name)) return false;
    auto names = std::make_shared<ColumnNames>();
    for (std::size_t i = 0; i < at; ++i) (void)names->add((*names_)[i]);
    (void)names->add(std::string(name));
    names_ = std::move(names);
  }
  values_.push_back(own(std::move(value)));
  return true;
}

void RecordColumns::detach() {
  if (!owner_) return;
  const std::shared_ptr<const void> held = std::exchange(owner_, nullptr);
  own_ = std::make_shared<std::deque<std::string>>();
  for (std::string_view& value : values_) value = own(std::string(value));
}

std::size_t RecordColumns::bytes() const {
  std::size_t bytes = 0;
  for (const std::string_view value : values_) bytes += value.size();
  return bytes;
}

std::string_view RecordColumns::own(std::string value) {
  if (!own_) own_ = std::make_shared<std::deque<std::string>>();
  return own_->emplace_back(std::move(value));
}

}  // namespace dl::vectorize
