// The first word of Philox4x32-10 (base/philox.h) for many positions at once:
// what dropout masks are drawn from.

#ifndef DL_LIBCORE_DEVICE_CPU_PHILOX_H_
#define DL_LIBCORE_DEVICE_CPU_PHILOX_H_

#include <cstdint>
#include <vector>

namespace dl::device {

// mask[i] = kept where philox(key, first + i, stream)[0] < bound, which may be
// 2^32, else 0.
struct Draws {
  float kept;
  std::uint64_t bound, key, stream, first;
};

// Ways to do it that this processor has, the best one first; all draw the same.
struct DrawWay {
  const char* name;
  void (*draw)(float* mask, const Draws& draws, std::int64_t n);
};
std::vector<DrawWay> draw_ways();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_PHILOX_H_
