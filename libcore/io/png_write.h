// Writing PNG files, of 8-bit grey or color.

#ifndef DL_LIBCORE_IO_PNG_WRITE_H_
#define DL_LIBCORE_IO_PNG_WRITE_H_

#include <cstdint>
#include <span>

#include "libcore/io/sink.h"

namespace dl::io {

// pixels: [height, width, channels], 1 channel of grey or 3 of red, green and
// blue.
// Throws Error: as Sink::write().
void write_png(Sink& sink, std::int64_t width, std::int64_t height,
               std::int64_t channels, std::span<const std::uint8_t> pixels);

}  // namespace dl::io

#endif  // DL_LIBCORE_IO_PNG_WRITE_H_
