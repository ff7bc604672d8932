#include "libcore/base/byte_order_mark.h"

namespace dl {

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

bool is_utf16(std::string_view start) {
  return start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff") ||
         (start.size() > 1 && (start[0] == '\0') != (start[1] == '\0'));
}

void refuse_utf16(std::string_view start, const std::string& name, Code code) {
  if (is_utf16(start))
    throw Error{code, name +
                          " is UTF-16 text; convert it: iconv -f UTF-16 -t "
                          "UTF-8 FILE"};
}

}  // namespace dl
