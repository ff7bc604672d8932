// Counts of the different values of a column.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_VALUE_COUNTS_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_VALUE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dl::vectorize {

// Digest of a value, by which it is found.
std::uint64_t value_digest(std::string_view text);

// A hash table with open addressing (linear probing); values stay in the order
// in which they came.
class ValueCounts {
 public:
  struct Entry {
    std::string text;
    std::uint64_t digest = 0;
    std::int64_t count = 0;
    std::int64_t settled = 0;  // rows of it that statistics have
  };

  // Null: it is not there.
  Entry* find(std::string_view text, std::uint64_t digest);
  const Entry* find(std::string_view text) const;
  // The place of the value among entries(); -1: it is not there.
  std::int64_t place(std::string_view text) const {
    const Entry* found = find(text);
    return found == nullptr ? -1 : found - entries_.data();
  }
  // It is not there yet.
  Entry& insert(std::string_view text, std::uint64_t digest);
  // It is added where it is not there.
  Entry& at(std::string_view text);

  // Returns how many rows had it.
  std::int64_t erase(std::string_view text);

  std::size_t size() const { return entries_.size(); }
  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  void clear();

 private:
  // Bits of the digest, and the place among the entries and 1; 0: it is empty.
  struct Slot {
    std::uint32_t tag = 0, entry = 0;
  };
  std::size_t place_of(std::string_view text, std::uint64_t digest) const;
  void grow();
  void place_all(std::size_t slots);

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_VALUE_COUNTS_H_
