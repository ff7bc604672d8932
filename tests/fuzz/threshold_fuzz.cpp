// Updates in threshold code.  One that is accepted moves as many elements as
// it says, and one that is refused none.

#include <cmath>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/exchange/threshold.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  using namespace dl::exchange;
  std::span<const std::byte> message(reinterpret_cast<const std::byte*>(data),
                                     size);
  try {
    ThresholdInfo info = inspect_threshold(message);
    if (info.elements > 1 << 16) return 0;
    std::vector<float> target(info.elements);
    decode_threshold(message, 1, target);
    std::uint64_t moved = 0;
    for (float v : target) moved += std::fabs(v) == info.threshold;
    if (moved != info.quanta) __builtin_trap();
  } catch (const dl::Error& error) {
    if (error.code() != dl::Code::kProtocol) __builtin_trap();
  }
  std::vector<float> target(100);
  try {
    decode_threshold(message, 1, target);
  } catch (const dl::Error&) {
    for (float v : target)
      if (v != 0) __builtin_trap();
  }
  return 0;
}
