// Philox4x32-10 as published; the known-answer vectors are in its test.

#include "libcore/base/philox.h"

#include <cmath>
#include <initializer_list>
#include <numbers>

namespace dl {

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t lo,
                                    std::uint64_t hi) {
  std::array<std::uint32_t, 4> c = {
      static_cast<std::uint32_t>(lo), static_cast<std::uint32_t>(lo >> 32),
      static_cast<std::uint32_t>(hi), static_cast<std::uint32_t>(hi >> 32)};
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
    std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0,
         static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1,
         static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

Philox::result_type Philox::operator()() {
  if (used_ == 4) {
    words_ = philox(seed_, block_++, stream_);
    used_ = 0;
  }
  return words_[used_++];
}

void Philox::seek(std::uint64_t numbers) {
  block_ = numbers / 4;
  used_ = 4;
  for (std::uint64_t i = 0; i < numbers % 4; ++i) (*this)();
}

std::uint64_t Philox::next64() {
  std::uint64_t low = (*this)();
  return low | std::uint64_t{(*this)()} << 32;
}

std::uint64_t Philox::below(std::uint64_t bound) {
  // Lemire 2019: multiply, and reject the few values that would be favoured.
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = Wide{next64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Philox::uniform() {
  return static_cast<double>(next64() >> 11) * 0x1p-53;
}

double Philox::normal() {
  double u = 1.0 - uniform();  // in (0, 1]
  double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::uint64_t mix(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t state = 0;
  for (std::uint64_t part : parts) {  // SplitMix64 over the running value
    state += part + 0x9E3779B97F4A7C15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    state = z ^ (z >> 31);
  }
  return state;
}

}  // namespace dl
