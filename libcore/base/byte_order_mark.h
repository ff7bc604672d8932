// The mark with which editors begin text to say how it is encoded.
//
// In UTF-8 it says nothing and is passed over, wherever text is read.  UTF-16,
// in which spreadsheets and PowerShell write, is refused with the remedy.

#ifndef DL_LIBCORE_BASE_BYTE_ORDER_MARK_H_
#define DL_LIBCORE_BASE_BYTE_ORDER_MARK_H_

#include <string>
#include <string_view>

#include "libcore/base/error.h"

namespace dl {

// The text behind a byte order mark of UTF-8, or all of it.
std::string_view without_byte_order_mark(std::string_view text);

// Whether a text that begins so is UTF-16, by its mark or by the zero byte
// beside its first letter.
bool is_utf16(std::string_view start);

// Throws Error{code}: "'net.json' is UTF-16 text; convert it: iconv ...".
void refuse_utf16(std::string_view start, const std::string& name, Code code);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_BYTE_ORDER_MARK_H_
