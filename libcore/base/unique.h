// Numbers that tell one start of a program from all others.

#ifndef DL_LIBCORE_BASE_UNIQUE_H_
#define DL_LIBCORE_BASE_UNIQUE_H_

#include <cstdint>
#include <random>

namespace dl {

// 64 bits of the system's randomness.  Not for anything that must come out the
// same again: philox.h.
inline std::uint64_t unique_number() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32) | random();
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_UNIQUE_H_
