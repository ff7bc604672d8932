// Text from files, peers and command lines, as a terminal may show it.
//
// A name with an escape sequence in it would move the cursor, and one with a
// line break would make up a line of output.

#ifndef DL_LIBCORE_BASE_DISPLAY_H_
#define DL_LIBCORE_BASE_DISPLAY_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dl {

// Bytes of the UTF-8 character that the text begins with; 0: it begins with
// none.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// Control characters, and bytes that are no UTF-8, in C style ("\n", "\x1b");
// the rest as it is.  Text that was displayed once does not change again.
std::string displayed(std::string_view text);
// The same in single quotes, as messages have names.
std::string in_quotes(std::string_view text);
// The same of text whose line breaks are meant.
std::string displayed_lines(std::string_view text);

// At most 40 bytes of it, displayed, and "..." for the rest.
std::string clipped(std::string_view text);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_DISPLAY_H_
