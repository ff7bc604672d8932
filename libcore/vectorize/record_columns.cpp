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
  for (std::string_view& value : values_) value = keep(value);
}

std::size_t RecordColumns::bytes() const {
  std::size_t bytes = 0;
  for (const std::string_view value : values_) bytes += value.size();
  return bytes;
}

std::string_view RecordColumns::keep(std::string_view text) {
  if (text.empty()) return {};
  constexpr std::size_t kFirst = 128;
  if (!short_)
    short_ = std::make_shared<std::pmr::monotonic_buffer_resource>(kFirst);
  auto* to = static_cast<char*>(short_->allocate(text.size(), 1));
  text.copy(to, text.size());
  return {to, text.size()};
}

std::string_view RecordColumns::own(std::string value) {
  constexpr std::size_t kLong = 1024;  // is not copied
  if (value.size() < kLong) return keep(value);
  if (!own_) own_ = std::make_shared<std::deque<std::string>>();
  return own_->emplace_back(std::move(value));
}

}  // namespace dl::vectorize
