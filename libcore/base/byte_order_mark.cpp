// Skipping of byte order marks, and the error for UTF-16 and UTF-32.

#include "libcore/base/byte_order_mark.h"

namespace dl {

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::string wide_encoding(std::string_view start) {
  using namespace std::string_view_literals;
  if (start.starts_with("\xff\xfe\0\0"sv) ||
      start.starts_with("\0\0\xfe\xff"sv))
    return "UTF-32";
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff"))
    return "UTF-16";
  std::string zeros;
  for (const char c : start.substr(0, 4)) zeros += c == '\0' ? '0' : 'x';
  if (zeros == "x000") return "UTF-32LE";
  if (zeros == "000x") return "UTF-32BE";
  if (zeros.starts_with("x0")) return "UTF-16LE";
  return zeros.starts_with("0x") ? "UTF-16BE" : "";
}

void refuse_wide_text(std::string_view start, const std::string& name,
                      Code code) {
  const std::string encoding = wide_encoding(start);
  if (!encoding.empty())
    throw Error{code, name + " is " + encoding.substr(0, 6) +
                          " text; convert it: iconv -f " + encoding +
                          " -t UTF-8 FILE"};
}

}  // namespace dl
