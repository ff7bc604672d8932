// Bytes as text, for files within a page.

#ifndef DL_LIBCORE_PLOT_BASE64_H_
#define DL_LIBCORE_PLOT_BASE64_H_

#include <cstddef>
#include <span>
#include <string>

namespace dl::plot {

// RFC 4648, with padding.
std::string base64(std::span<const std::byte> bytes);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_BASE64_H_
