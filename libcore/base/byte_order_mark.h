// The mark with which editors begin text to say how it is encoded.
//
// In UTF-8 it says nothing and is passed over, wherever text is read.  UTF-16,
// in which spreadsheets and PowerShell write, and UTF-32 are refused with the
// remedy.

#ifndef DL_LIBCORE_BASE_BYTE_ORDER_MARK_H_
#define DL_LIBCORE_BASE_BYTE_ORDER_MARK_H_

#include <string>
#include <string_view>

#include "libcore/base/error.h"

namespace dl {

// The text behind a byte order mark of UTF-8, or all of it.
std::string_view without_byte_order_mark(std::string_view text);

// The encoding of a text that begins so, by its mark ("UTF-16", "UTF-32") or by
// the zero bytes beside its first letter ("UTF-16LE", "UTF-32BE", ...), as
// iconv calls it; "": UTF-8, or not known.
std::string wide_encoding(std::string_view start);

// Throws Error{code}: "'net.json' is UTF-16 text; convert it: iconv ...".
void refuse_wide_text(std::string_view start, const std::string& name,
                      Code code);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_BYTE_ORDER_MARK_H_
