#include "libcore/vectorize/record_columns.h"

#include <algorithm>
#include <array>

#include "libcore/vectorize/text.h"

namespace dl::vectorize {

std::uint64_t ColumnNames::next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

ColumnNames::ColumnNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    places_.emplace(name, all_.size());
    all_.push_back(name);
  }
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

std::string_view TextArena::keep(std::string_view text) {
  constexpr std::size_t kFirst = 128;
  if (chunks_.empty() || chunks_.back().size - used_ < text.size()) {
    const std::size_t size = std::max(
        text.size(), chunks_.empty() ? kFirst : 2 * chunks_.back().size);
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    used_ = 0;
  }
  char* to = chunks_.back().bytes.get() + used_;
  text.copy(to, text.size());
  used_ += text.size();
  return {to, text.size()};
}

void TextArena::clear() {
  if (chunks_.size() > 1) chunks_.erase(chunks_.begin(), chunks_.end() - 1);
  used_ = 0;
}

std::optional<std::size_t> RecordColumns::place(std::string_view name) const {
  const auto found = names_ ? names_->find(name) : std::nullopt;
  return found && *found < size() ? found : std::nullopt;
}

bool RecordColumns::emplace(std::string_view name, std::string value) {
  const std::size_t at = size();
  if (!names_ || at >= names_->size() || (*names_)[at] != name) {
    if (contains(name)) return false;
    std::vector<std::string> names;
    names.reserve(at + 1);
    for (std::size_t i = 0; i < at; ++i) names.push_back((*names_)[i]);
    names.emplace_back(name);
    names_ = std::make_shared<const ColumnNames>(names);
  }
  values_.push_back(own(std::move(value)));
  return true;
}

void RecordColumns::detach() {
  if (!owner_) return;
  const std::shared_ptr<const void> held = std::exchange(owner_, nullptr);
  for (std::size_t i = 0; i < size(); ++i) values_[i] = keep(value(i));
}

std::size_t RecordColumns::bytes() const {
  std::size_t bytes = 0;
  for (const std::string_view value : values_) bytes += value.size();
  return bytes;
}

std::string_view RecordColumns::written(std::size_t i) const {
  std::array<char, 32> digits;
  if (!short_) short_ = std::make_shared<TextArena>();
  return values_[i] = short_->keep(number_text(numbers_[i], digits));
}

std::string_view RecordColumns::keep(std::string_view text) {
  if (text.empty()) return {};
  if (!short_) short_ = std::make_shared<TextArena>();
  return short_->keep(text);
}

std::vector<std::string_view>& RecordColumns::refill(
    const Names& names, const std::shared_ptr<const void>& owner) {
  if (names_ != names) names_ = names;
  if (owner_ != owner) owner_ = owner;
  if (own_) own_.reset();
  if (short_ && short_.use_count() == 1)
    short_->clear();
  else
    short_.reset();
  numbers_.clear();
  values_.clear();
  return values_;
}

std::string_view RecordColumns::own(std::string value) {
  constexpr std::size_t kLong = 1024;  // is not copied
  if (value.size() < kLong) return keep(value);
  if (!own_) own_ = std::make_shared<std::deque<std::string>>();
  return own_->emplace_back(std::move(value));
}

}  // namespace dl::vectorize
