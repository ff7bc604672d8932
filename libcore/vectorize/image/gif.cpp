// The first picture of a GIF file, by giflib.

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

int read_gif_bytes(GifFileType* gif, GifByteType* to, int size) {
  auto& rest = *static_cast<std::string_view*>(gif->UserData);
  const std::size_t n = std::min(static_cast<std::size_t>(size), rest.size());
  std::memcpy(to, rest.data(), n);
  rest.remove_prefix(n);
  return static_cast<int>(n);
}

class GifFile {
 public:
  explicit GifFile(std::string_view& rest) {
    int error = 0;
    gif_ = ::DGifOpen(&rest, read_gif_bytes, &error);
    if (gif_ == nullptr) bad_data("it is damaged or cut short");
  }
  ~GifFile() {
    int error = 0;
    (void)::DGifCloseFile(gif_, &error);
  }
  GifFile(const GifFile&) = delete;
  GifFile& operator=(const GifFile&) = delete;
  GifFileType* get() { return gif_; }

  void check(int result) const {
    if (result == GIF_OK) return;
    const char* why = ::GifErrorString(gif_->Error);
    bad_data(std::string("it is damaged or cut short") +
             (why == nullptr ? "" : std::string(" (") + why + ")"));
  }

  void skip_extension() const {
    int code = 0;
    GifByteType* block = nullptr;
    for (check(::DGifGetExtension(gif_, &code, &block)); block != nullptr;)
      check(::DGifGetExtensionNext(gif_, &block));
  }

 private:
  GifFileType* gif_ = nullptr;
};

// The order of the rows in a picture that is interlaced.
template <typename Row>
void each_row(std::int64_t height, bool interlaced, const Row& row) {
  struct Pass {
    std::int64_t first, step;
  };
  constexpr Pass kPlain[] = {{0, 1}};
  constexpr Pass kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  const std::span<const Pass> passes =
      interlaced ? std::span<const Pass>(kInterlaced) : kPlain;
  for (const Pass& pass : passes)
    for (std::int64_t y = pass.first; y < height; y += pass.step) row(y);
}

// The picture that comes next, in its place on the screen.
void read_gif_picture(GifFile& file, Picture& out) {
  GifFileType* gif = file.get();
  file.check(::DGifGetImageDesc(gif));
  const GifImageDesc& part = gif->Image;
  const ColorMapObject* colors =
      part.ColorMap != nullptr ? part.ColorMap : gif->SColorMap;
  if (colors == nullptr) bad_data("it has no colors");
  if (part.Left < 0 || part.Top < 0 || part.Width < 1 || part.Height < 1 ||
      part.Left + part.Width > out.width || part.Top + part.Height > out.height)
    bad_data("its picture does not fit its screen");
  std::array<GifColorType, 256> palette{};
  std::copy_n(colors->Colors, std::min(colors->ColorCount, 256),
              palette.begin());
  const GifColorType back =
      palette[static_cast<std::size_t>(gif->SBackGroundColor) % 256];
  for (std::size_t i = 0; i < out.pixels.size(); i += 3) {
    out.pixels[i] = back.Red;
    out.pixels[i + 1] = back.Green;
    out.pixels[i + 2] = back.Blue;
  }
  std::vector<GifPixelType> line(static_cast<std::size_t>(part.Width));
  each_row(part.Height, part.Interlace, [&](std::int64_t y) {
    file.check(::DGifGetLine(gif, line.data(), part.Width));
    std::uint8_t* to = out.row(part.Top + y) + std::int64_t{part.Left} * 3;
    for (const GifPixelType index : line) {
      *to++ = palette[index].Red;
      *to++ = palette[index].Green;
      *to++ = palette[index].Blue;
    }
  });
}

void read_gif(std::string_view bytes, const DecodeLimits& limits,
              Picture& out) {
  std::string_view rest = bytes;
  GifFile file(rest);
  check_pixels(file.get()->SWidth, file.get()->SHeight, limits);
  out.reshape(file.get()->SWidth, file.get()->SHeight, 3);
  for (;;) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    file.check(::DGifGetRecordType(file.get(), &type));
    if (type == IMAGE_DESC_RECORD_TYPE) return read_gif_picture(file, out);
    if (type != EXTENSION_RECORD_TYPE) bad_data("it has no picture");
    file.skip_extension();
  }
}

bool is_gif(std::string_view bytes) {
  return bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a");
}

std::string gif_library() {
  return "giflib " + std::to_string(GIFLIB_MAJOR) + "." +
         std::to_string(GIFLIB_MINOR) + "." + std::to_string(GIFLIB_RELEASE);
}

}  // namespace

const PictureFormat kGif = {"GIF", is_gif, read_gif, gif_library};

}  // namespace dl::vectorize
