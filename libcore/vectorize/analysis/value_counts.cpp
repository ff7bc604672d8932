#include "libcore/vectorize/analysis/value_counts.h"

#include <span>

#include "libcore/io/digest.h"

namespace dl::vectorize {

std::uint64_t value_digest(std::string_view text) {
  return io::digest(std::as_bytes(std::span(text)));
}

// The slot of the value, or the empty one where it belongs.
std::size_t ValueCounts::place_of(std::string_view text,
                                  std::uint64_t digest) const {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(digest >> 32);
  std::size_t place = static_cast<std::size_t>(digest) & mask;
  for (; slots_[place].entry != 0; place = (place + 1) & mask)
    if (slots_[place].tag == tag &&
        entries_[slots_[place].entry - 1].text == text)
      break;
  return place;
}

ValueCounts::Entry* ValueCounts::find(std::string_view text,
                                      std::uint64_t digest) {
  if (entries_.empty()) return nullptr;
  const std::uint32_t entry = slots_[place_of(text, digest)].entry;
  return entry == 0 ? nullptr : &entries_[entry - 1];
}

const ValueCounts::Entry* ValueCounts::find(std::string_view text) const {
  if (entries_.empty()) return nullptr;
  const std::uint32_t entry = slots_[place_of(text, value_digest(text))].entry;
  return entry == 0 ? nullptr : &entries_[entry - 1];
}

void ValueCounts::grow() {
  constexpr std::size_t kLeastSlots = 16;
  place_all(slots_.empty() ? kLeastSlots : 2 * slots_.size());
}

void ValueCounts::place_all(std::size_t slots) {
  slots_.assign(slots, {});
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::uint64_t digest = entries_[i].digest;
    slots_[place_of(entries_[i].text, digest)] = {
        static_cast<std::uint32_t>(digest >> 32),
        static_cast<std::uint32_t>(i + 1)};
  }
}

ValueCounts::Entry& ValueCounts::insert(std::string_view text,
                                        std::uint64_t digest) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  slots_[place_of(text, digest)] = {
      static_cast<std::uint32_t>(digest >> 32),
      static_cast<std::uint32_t>(entries_.size() + 1)};
  return entries_.emplace_back(
      Entry{.text = std::string(text), .digest = digest});
}

ValueCounts::Entry& ValueCounts::at(std::string_view text) {
  const std::uint64_t digest = value_digest(text);
  Entry* found = find(text, digest);
  return found != nullptr ? *found : insert(text, digest);
}

std::int64_t ValueCounts::erase(std::string_view text) {
  const Entry* found = find(text);
  if (found == nullptr) return 0;
  const std::int64_t count = found->count;
  entries_.erase(entries_.begin() + (found - entries_.data()));
  place_all(slots_.size());
  return count;
}

void ValueCounts::clear() {
  entries_ = {};
  slots_ = {};
}

}  // namespace dl::vectorize
