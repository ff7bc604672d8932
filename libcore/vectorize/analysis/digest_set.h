// A set of digests, each of which is its own hash.

#ifndef DL_LIBCORE_VECTORIZE_ANALYSIS_DIGEST_SET_H_
#define DL_LIBCORE_VECTORIZE_ANALYSIS_DIGEST_SET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace dl::vectorize {

// A hash table with open addressing (linear probing).
class DigestSet {
 public:
  // Adds them; returns how many of them were there already.
  std::int64_t add(std::span<const std::uint64_t> digests) {
    while (2 * (size_ + digests.size()) > slots_.size()) grow();
    std::int64_t repeated = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      // Most places are in no cache: several are waited for at once.
      constexpr std::size_t kAhead = 16;
      if (i + kAhead < digests.size())
        __builtin_prefetch(&slots_[digests[i + kAhead] & (slots_.size() - 1)]);
      if (!insert(digests[i])) ++repeated;
    }
    return repeated;
  }

 private:
  // False: it is there already.
  bool insert(std::uint64_t digest) {
    if (digest == 0) return !std::exchange(has_zero_, true);
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = digest & mask;
    for (; slots_[place] != 0; place = (place + 1) & mask)
      if (slots_[place] == digest) return false;
    slots_[place] = digest;
    ++size_;
    return true;
  }
  void grow() {
    constexpr std::size_t kLeast = 1024;
    const auto before =
        std::exchange(slots_, std::vector<std::uint64_t>(
                                  slots_.empty() ? kLeast : 2 * slots_.size()));
    size_ = 0;
    for (const std::uint64_t digest : before)
      if (digest != 0) (void)insert(digest);
  }

  std::vector<std::uint64_t> slots_;  // a power of two; 0: empty
  std::size_t size_ = 0;
  bool has_zero_ = false;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_ANALYSIS_DIGEST_SET_H_
