// Formats of the differences that averaging exchanges: delta.h codes them.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_DELTA_FORMAT_H_
#define DL_LIBCORE_EXCHANGE_CODEC_DELTA_FORMAT_H_

#include <string>
#include <string_view>

namespace dl::exchange {

struct DeltaFormat {
  enum class Kind { kF32, kF16, kInt8, kSparse };
  Kind kind = Kind::kF32;
  // kSparse: the share of elements that is sent, in (0, 1], and the bits of
  // each, the sign included: 1, 2, 4, 8, or 16 for binary16.
  double density = 0.01;
  int bits = 2;

  // Whether coding loses something, which goes into a residual.
  bool lossy() const { return kind != Kind::kF32; }

  // "f32", "f16", "int8", "sparse", "sparse:0.01", "sparse:0.01:2".
  // Throws Error: kUsage.
  static DeltaFormat parse(std::string_view text);
  std::string to_text() const;  // text that parse() reads as this format
  bool operator==(const DeltaFormat&) const = default;
};

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_DELTA_FORMAT_H_
