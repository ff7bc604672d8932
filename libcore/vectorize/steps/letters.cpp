#include "libcore/vectorize/steps/letters.h"

#include <clocale>
#include <cstdint>

#include "libcore/base/display.h"

namespace dl::vectorize {
namespace {

// glibc has it built in.
locale_t utf8_locale() {
  static const locale_t kLocale =
      ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
  return kLocale;
}

constexpr unsigned kTail = 6;  // bits of a byte behind the first

std::uint32_t decoded_letter(std::string_view bytes) {
  auto letter =
      static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[0]));
  if (bytes.size() > 1) letter &= 0x7fU >> bytes.size();
  for (const char c : bytes.substr(1))
    letter = (letter << kTail) | (static_cast<unsigned char>(c) & 0x3fU);
  return letter;
}

void append_letter(std::uint32_t letter, std::string& to) {
  if (letter < 0x80) {
    to += static_cast<char>(letter);
    return;
  }
  const unsigned more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
  const std::uint32_t mark = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
  to += static_cast<char>(mark | (letter >> (kTail * more)));
  for (unsigned i = more; i-- > 0;)
    to += static_cast<char>(0x80U | ((letter >> (kTail * i)) & 0x3fU));
}

}  // namespace

wint_t small_letter(wint_t letter) {
  return utf8_locale() == locale_t{} ? letter
                                     : ::towlower_l(letter, utf8_locale());
}

wint_t capital_letter(wint_t letter) {
  return utf8_locale() == locale_t{} ? letter
                                     : ::towupper_l(letter, utf8_locale());
}

void change_letters(std::string_view text, wint_t (*change)(wint_t),
                    std::string& to) {
  while (!text.empty()) {
    const std::size_t bytes = utf8_length(text);
    if (bytes == 0)
      to += text[0];
    else
      append_letter(change(decoded_letter(text.substr(0, bytes))), to);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
}

}  // namespace dl::vectorize
