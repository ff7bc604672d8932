// Differences of parameters.  One that is accepted gives finite values, which
// can be encoded again in its own form; one that is refused changes nothing.

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/delta.h"

namespace {

using namespace dl::exchange;

// Decoded values must be accepted when coded again in any form, and f32 loses
// nothing.
void round_trip(const std::vector<float>& values) {
  for (const char* text : {"f32", "f16", "int8", "sparse:0.1:1", "sparse:0.1:2",
                           "sparse:0.1:8", "sparse:1:16"}) {
    const DeltaFormat format = DeltaFormat::parse(text);
    std::vector<float> residual(format.lossy() ? values.size() : 0),
        copy(values.size());
    std::vector<std::byte> again;
    encode_delta(values, format, residual, again);
    decode_delta(again, 1, copy);
    if (!format.lossy() && copy != values) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  const std::span<const std::byte> message(
      reinterpret_cast<const std::byte*>(data), size);
  // The first byte behind the header's form that gives a size worth a try.
  for (const std::size_t elements :
       {std::size_t{100}, size > 4 ? std::size_t{data[4]} : 0,
        size > 5 ? data[4] + std::size_t{256} * data[5] : 0}) {
    std::vector<float> target(elements, 0.5F);
    try {
      decode_delta(message, 0.5F, target);
    } catch (const dl::Error& error) {
      if (error.code() != dl::Code::kProtocol) __builtin_trap();
      for (const float v : target)
        if (v != 0.5F) __builtin_trap();
      continue;
    }
    for (const float v : target)
      if (!std::isfinite(v)) __builtin_trap();
    round_trip(target);
    // Most of them zero, if the message leaves most out.
    std::vector<float> alone(elements);
    decode_delta(message, 0.5F, alone);
    round_trip(alone);
  }
  return 0;
}
