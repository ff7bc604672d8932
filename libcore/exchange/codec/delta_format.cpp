// The text form of --delta.

#include "libcore/exchange/codec/delta_format.h"

#include "libcore/exchange/rules/rule_text.h"

namespace dl::exchange {

DeltaFormat DeltaFormat::parse(std::string_view text) {
  constexpr const char* kWant = "f32, f16, int8 or sparse[:DENSITY[:BITS]]";
  const RuleText words = RuleText::parse(text);
  DeltaFormat format;
  if (words.word == "sparse" && words.numbers.size() <= 2) {
    format.kind = Kind::kSparse;
    if (!words.numbers.empty()) format.density = words.numbers[0];
    if (!(format.density > 0 && format.density <= 1))
      words.fail("a density above 0, at most 1");
    if (words.numbers.size() < 2) return format;
    for (const int bits : {1, 2, 4, 8, 16})
      if (words.numbers[1] == bits) {
        format.bits = bits;
        return format;
      }
    words.fail("1, 2, 4, 8 or 16 bits, the sign included");
  }
  if (!words.numbers.empty()) words.fail(kWant);
  if (words.word == "f32") return format;
  if (words.word == "f16")
    format.kind = Kind::kF16;
  else if (words.word == "int8")
    format.kind = Kind::kInt8;
  else
    words.fail(kWant);
  return format;
}

std::string DeltaFormat::to_text() const {
  switch (kind) {
    case Kind::kF32:
      return "f32";
    case Kind::kF16:
      return "f16";
    case Kind::kInt8:
      return "int8";
    case Kind::kSparse:
      return "sparse:" + number_text(density) + ":" + std::to_string(bits);
  }
  return "f32";
}

}  // namespace dl::exchange
