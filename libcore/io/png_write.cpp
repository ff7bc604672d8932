// PNG: three chunks, the pixels deflated by zlib.

#include "libcore/io/png_write.h"

#include <zlib.h>

#include <string_view>
#include <vector>

#include "libcore/base/error.h"

namespace dl::io {
namespace {

void append_number(std::vector<std::uint8_t>& to, std::uint64_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(static_cast<std::uint8_t>(number >> shift));
}

void write_chunk(Sink& sink, std::string_view type,
                 std::span<const std::uint8_t> data) {
  std::vector<std::uint8_t> chunk;
  append_number(chunk, data.size());
  chunk.insert(chunk.end(), type.begin(), type.end());
  chunk.insert(chunk.end(), data.begin(), data.end());
  append_number(chunk, ::crc32(0, chunk.data() + 4,
                               static_cast<::uInt>(chunk.size() - 4)));
  sink.write(std::as_bytes(std::span(chunk)));
}

}  // namespace

void write_png(Sink& sink, std::int64_t width, std::int64_t height,
               std::int64_t channels, std::span<const std::uint8_t> pixels) {
  const auto stride = static_cast<std::size_t>(width * channels);
  require((channels == 1 || channels == 3) &&
              pixels.size() == stride * static_cast<std::size_t>(height),
          "no pixels of a PNG");
  std::vector<std::uint8_t> rows;  // each behind the filter 0, as it is
  rows.reserve(pixels.size() + static_cast<std::size_t>(height));
  for (std::size_t at = 0; at < pixels.size(); at += stride) {
    rows.push_back(0);
    const auto row = pixels.subspan(at, stride);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  std::vector<std::uint8_t> packed(::compressBound(rows.size()));
  ::uLongf size = packed.size();
  require(::compress(packed.data(), &size, rows.data(), rows.size()) == Z_OK,
          "zlib lacks room");
  packed.resize(size);

  constexpr std::uint8_t kSignature[] = {0x89, 'P',  'N',  'G',
                                         '\r', '\n', 0x1A, '\n'};
  std::vector<std::uint8_t> header;
  append_number(header, static_cast<std::uint64_t>(width));
  append_number(header, static_cast<std::uint64_t>(height));
  const std::uint8_t color = channels == 3 ? 2 : 0;
  header.insert(header.end(), {8, color, 0, 0, 0});
  sink.write(std::as_bytes(std::span(kSignature)));
  write_chunk(sink, "IHDR", header);
  write_chunk(sink, "IDAT", packed);
  write_chunk(sink, "IEND", {});
}

}  // namespace dl::io
