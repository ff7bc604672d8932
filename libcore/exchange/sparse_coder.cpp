#include "libcore/exchange/sparse_coder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace dl::exchange {
namespace {

struct State {
  BitWriter bits;
  unsigned k;
  std::uint64_t next;
};

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
constexpr std::size_t kWords = 32;  // at a time
// Those of their hits, and what is written beyond without a look.
using Offsets = std::array<std::uint32_t, 64 * kWords + 8>;

// Where the hits are, from the first word's first element.  Most words have a
// hit or two: so many are written in any case, which spares the branches that
// nobody can predict (Langdale and Lemire, 2019, section 3.2).
[[gnu::always_inline]] inline std::size_t flatten(
    std::span<const HitWord> words, Offsets& offsets) {
  std::size_t count = 0;
  for (const HitWord& w : words) {
    const auto first = static_cast<std::uint32_t>(w.first - words[0].first);
    const auto n = static_cast<std::size_t>(std::popcount(w.hits));
    std::uint32_t* to = offsets.data() + count;
    std::uint64_t m = w.hits;
    const auto write = [&](std::size_t from, std::size_t end) {
      for (std::size_t i = from; i < end; ++i, m &= m - 1)
        to[i] = first + static_cast<std::uint32_t>(__builtin_ctzll(m | kTop));
    };
    write(0, 2);
    if (n > 2) write(2, 8);
    if (n > 8) write(8, n);
    count += n;
  }
  return count;
}

[[gnu::always_inline]] inline std::uint64_t code(std::span<const HitWord> words,
                                                 const float* part,
                                                 State& state) {
  Offsets offsets;
  std::uint64_t total = 0;
  BitWriter bits = state.bits;  // copies stay in registers
  std::uint64_t next = state.next;
  const unsigned k = state.k;
  while (!words.empty()) {
    const auto some = words.first(std::min(words.size(), kWords));
    words = words.subspan(some.size());
    const std::size_t count = flatten(some, offsets);
    for (std::size_t j = 0; j < count; ++j) {
      const std::uint64_t i = some[0].first + offsets[j];
      bits.put_gap(i - next, k, std::signbit(part[i]), 1);
      next = i + 1;
    }
    total += count;
  }
  state.bits = bits;
  state.next = next;
  return total;
}

#if defined(__x86_64__)
// Counting and shifting of bits are one instruction each here.
__attribute__((target("popcnt,bmi,bmi2"))) std::uint64_t code_bmi(
    std::span<const HitWord> words, const float* part, State& state) {
  return code(words, part, state);
}
#endif
std::uint64_t code_portable(std::span<const HitWord> words, const float* part,
                            State& state) {
  return code(words, part, state);
}

auto best_way() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("bmi2")) return code_bmi;
#endif
  return code_portable;
}

}  // namespace

std::uint64_t SparseCoder::add(std::span<const HitWord> hits,
                               std::span<const float> part) {
  static const auto kCode = best_way();
  if (hits.empty()) return 0;
  State state{bits_, k_, next_};
  const std::uint64_t count = kCode(hits, part.data(), state);
  bits_ = state.bits;
  next_ = state.next;
  return count;
}

}  // namespace dl::exchange
