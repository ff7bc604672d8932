// Updates in threshold code.  One that is accepted moves as many elements as it
// says, and its quanta can be encoded again; one that is refused moves none.

#include <cmath>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/threshold.h"

namespace {

using namespace dl::exchange;

void want(bool condition) {
  if (!condition) __builtin_trap();
}

void accepted(std::span<const std::byte> message, const ThresholdInfo& info) {
  std::vector<float> target(info.elements);
  decode_threshold(message, 1, target);
  std::vector<float> again(info.elements);
  std::uint64_t moved = 0, next = 0;
  for_each_quantum(message, [&](std::uint64_t i, float value) {
    want(i >= next && i < info.elements);
    next = i + 1;
    again[i] = value;
    ++moved;
  });
  want(moved == info.quanta);
  want(again == target);
  // With one threshold of all: the signs survive.
  float least = INFINITY;
  for (const float v : target)
    if (v != 0) least = std::min(least, std::fabs(v));
  if (!std::isfinite(least)) return;
  std::vector<std::byte> other;
  want(encode_threshold(again, least, other) ==
       static_cast<std::int64_t>(moved));
  std::vector<float> signs(info.elements);
  decode_threshold(other, 1, signs);
  for (std::size_t i = 0; i < signs.size(); ++i)
    want(signs[i] == (target[i] == 0 ? 0 : std::copysign(least, target[i])));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  const std::span<const std::byte> message(
      reinterpret_cast<const std::byte*>(data), size);
  try {
    const ThresholdInfo info = inspect_threshold(message);
    if (info.elements <= 1 << 16) accepted(message, info);
  } catch (const dl::Error& error) {
    want(error.code() == dl::Code::kProtocol);
  }
  std::vector<float> target(100);
  try {
    decode_threshold(message, 1, target);
  } catch (const dl::Error&) {
    for (const float v : target) want(v == 0);
  }
  return 0;
}
