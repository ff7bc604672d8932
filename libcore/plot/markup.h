// Text for HTML and SVG.

#ifndef DL_LIBCORE_PLOT_MARKUP_H_
#define DL_LIBCORE_PLOT_MARKUP_H_

#include <string>
#include <string_view>

#include "libcore/base/json.h"

namespace dl::plot {

// As the content of an element or a quoted attribute; control characters and
// bytes that are no UTF-8 as displayed() has them.
std::string escaped(std::string_view text);
// The same, cut to so many bytes.
std::string escaped(std::string_view text, std::size_t most);
// JSON that may stand in a script element.
std::string json_in_html(const Json& value);

// Four digits, for people: "0.1235", "1235", "1.2e-07"; "–" for NaN.
std::string readable_number(double value);
// 1 234 567 with thin spaces.
std::string grouped(double count);
// "1.2 MB".
std::string bytes_text(double bytes);
// "4.2 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_MARKUP_H_
