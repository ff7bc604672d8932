// Encoder of the sparse threshold code.

#include "libcore/exchange/codec/sparse_coder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 takes operands that its own intrinsics leave open for a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

namespace dl::exchange {

using tensor::HitWord;

namespace {

struct State {
  BitWriter bits;
  unsigned k;
  std::uint64_t next;
};

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
constexpr std::size_t kWords = 32;  // at a time, if they are not too far apart
constexpr std::uint64_t kFar = std::uint64_t{1} << 30;
// Where their hits are, from the first word's first element, and what is
// written beyond without a look.
using Offsets = std::array<std::uint32_t, 64 * kWords + 8>;

// Most words have a hit or two: so many are written in any case, which spares
// the branches that nobody can predict (Langdale and Lemire, 2019, section
// 3.2).
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

using PutAll = void(std::span<const std::uint32_t> offsets, std::uint64_t base,
                    const float* part, State& state);

// Codes the quanta at base + offsets.
[[gnu::always_inline]] inline void put(std::span<const std::uint32_t> offsets,
                                       std::uint64_t base, const float* part,
                                       State& state) {
  BitWriter bits = state.bits;  // copies stay in registers
  std::uint64_t next = state.next;
  const unsigned k = state.k;
  for (const std::uint32_t offset : offsets) {
    const std::uint64_t i = base + offset;
    bits.put_gap(i - next, k, std::signbit(part[i]), 1);
    next = i + 1;
  }
  state.bits = bits;
  state.next = next;
}

template <PutAll kPut>
[[gnu::always_inline]] inline std::uint64_t code(std::span<const HitWord> words,
                                                 const float* part,
                                                 State& state) {
  Offsets offsets;
  std::uint64_t total = 0;
  while (!words.empty()) {
    std::size_t n = std::min(words.size(), kWords);
    if (words[n - 1].first - words[0].first > kFar) n = 1;
    const std::size_t count = flatten(words.first(n), offsets);
    kPut(std::span(offsets).first(count), words[0].first, part, state);
    total += count;
    words = words.subspan(n);
  }
  return total;
}

void put_portable(std::span<const std::uint32_t> offsets, std::uint64_t base,
                  const float* part, State& state) {
  put(offsets, base, part, state);
}
std::uint64_t code_portable(std::span<const HitWord> words, const float* part,
                            State& state) {
  return code<put_portable>(words, part, state);
}

#if defined(__x86_64__)
#define DL_BMI "popcnt,bmi,bmi2"
// Counting and shifting of bits are one instruction each here.
__attribute__((target(DL_BMI))) void put_bmi(
    std::span<const std::uint32_t> offsets, std::uint64_t base,
    const float* part, State& state) {
  put(offsets, base, part, state);
}
__attribute__((target(DL_BMI))) std::uint64_t code_bmi(
    std::span<const HitWord> words, const float* part, State& state) {
  return code<put_bmi>(words, part, state);
}

// Joins the codes of two lanes in the even one, then of four in lanes 0 and 4.
__attribute__((target("avx512f"))) inline void join(__m512i& code,
                                                    __m512i& length) {
  code = _mm512_or_si512(
      code, _mm512_sllv_epi64(_mm512_unpackhi_epi64(code, code), length));
  length = _mm512_add_epi64(length, _mm512_unpackhi_epi64(length, length));
  code = _mm512_or_si512(
      code, _mm512_sllv_epi64(_mm512_permutex_epi64(code, 2), length));
  length = _mm512_add_epi64(length, _mm512_permutex_epi64(length, 2));
}

// Eight at a time; those whose gaps are much longer than k expects, by put().
__attribute__((target("avx512f,avx2," DL_BMI))) void put_wide(
    std::span<const std::uint32_t> offsets, std::uint64_t base,
    const float* part, State& state) {
  const __m128i k = _mm_cvtsi32_si128(static_cast<int>(state.k));
  const __m128i k1 = _mm_cvtsi32_si128(static_cast<int>(state.k + 1));
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i behind = _mm512_set1_epi64(state.k + 2);
  const __m512i most = _mm512_set1_epi64(kMaxBits);
  const auto* signs = reinterpret_cast<const int*>(part + base);
  put(offsets.first(1), base, part, state);  // by what was before
  std::size_t j = 1;
  BitWriter bits = state.bits;
  for (; j + 8 <= offsets.size(); j += 8) {
    const std::uint32_t* from = offsets.data() + j;
    const __m256i at =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i last =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from - 1));
    const __m512i gap = _mm512_cvtepu32_epi64(
        _mm256_sub_epi32(_mm256_sub_epi32(at, last), _mm256_set1_epi32(1)));
    const __m512i sign = _mm512_cvtepu32_epi64(
        _mm256_srli_epi32(_mm256_i32gather_epi32(signs, at, 4), 31));
    const __m512i zeros = _mm512_srl_epi64(gap, k);
    const __m512i low = _mm512_sub_epi64(gap, _mm512_sll_epi64(zeros, k));
    __m512i code =
        _mm512_or_si512(_mm512_or_si512(one, _mm512_slli_epi64(low, 1)),
                        _mm512_sll_epi64(sign, k1));
    code = _mm512_sllv_epi64(code, zeros);
    __m512i length = _mm512_add_epi64(zeros, behind);
    join(code, length);
    if (_mm512_mask_cmpgt_epu64_mask(0x11, length, most) != 0) {
      state.bits = bits;
      state.next = base + from[-1] + 1;
      put(offsets.subspan(j, 8), base, part, state);
      bits = state.bits;
      continue;
    }
    alignas(64) std::array<std::uint64_t, 8> codes, lengths;
    _mm512_store_si512(codes.data(), code);
    _mm512_store_si512(lengths.data(), length);
    bits.put(codes[0], static_cast<unsigned>(lengths[0]));
    bits.put(codes[4], static_cast<unsigned>(lengths[4]));
  }
  state.bits = bits;
  state.next = base + offsets[j - 1] + 1;
  put(offsets.subspan(j), base, part, state);
}
__attribute__((target("avx512f,avx2," DL_BMI))) std::uint64_t code_wide(
    std::span<const HitWord> words, const float* part, State& state) {
  constexpr unsigned kShort = 7;  // four codes of more would seldom fit
  return state.k <= kShort ? code<put_wide>(words, part, state)
                           : code<put_bmi>(words, part, state);
}
#undef DL_BMI
#endif

auto best_way() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2"))
    return code_wide;
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

void SparseCoder::add(std::span<const std::int32_t> places) {
  BitWriter bits = bits_;  // copies stay in registers
  std::uint64_t next = next_;
  for (const std::int32_t place : places) {
    const std::uint64_t i = index_at(place);
    bits.put_gap(i - next, k_, place < 0, 1);
    next = i + 1;
  }
  bits_ = bits;
  next_ = next;
}

}  // namespace dl::exchange
