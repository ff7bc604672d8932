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

// The numbers of colors of a picture, as LZW has them.  The codes come from
// giflib, which would make something of those that cannot be, too.
class GifPixels {
 public:
  // bits: of the numbers.
  GifPixels(const GifFile& file, GifFileType* gif, std::uint32_t bits)
      : file_(file), gif_(gif), clear_(1 << bits) {
    if (bits < 1 || bits > 8) bad_data("it is damaged (bits of its codes)");
    for (int i = 0; i < clear_; ++i)
      entries_[static_cast<std::size_t>(i)] = {
          0, 1, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)};
  }

  void read(std::span<std::uint8_t> out) {
    int previous = -1;
    next_ = clear_ + 2;
    while (!out.empty()) {
      int code = 0;
      file_.check(::DGifGetLZCodes(gif_, &code));
      if (code < 0) bad_data("its picture is cut short");
      if (code == clear_) {
        previous = -1;
        next_ = clear_ + 2;
        continue;
      }
      if (code > clear_ && (previous < 0 || code > next_))
        bad_data("it is damaged (a code that is none)");
      if (previous >= 0 && next_ < kCodes) add(previous, code);
      if (code >= kCodes || (code >= next_ && code > clear_))
        bad_data("it is damaged (a code that is none)");
      out = out.subspan(put(code, out));
      previous = code;
    }
  }

 private:
  static constexpr int kCodes = 4096;
  // A row of numbers: those of another entry, and one more.
  struct Entry {
    std::uint16_t before, length;
    std::uint8_t first, last;
  };

  // The numbers of `previous` and the first one of `code`, which may be the new
  // entry itself.
  void add(int previous, int code) {
    const Entry& before = entries_[static_cast<std::size_t>(previous)];
    const std::uint8_t first =
        code == next_ ? before.first
                      : entries_[static_cast<std::size_t>(code)].first;
    entries_[static_cast<std::size_t>(next_++)] = {
        static_cast<std::uint16_t>(previous),
        static_cast<std::uint16_t>(before.length + 1), before.first, first};
  }

  std::size_t put(int code, std::span<std::uint8_t> out) const {
    Entry entry = entries_[static_cast<std::size_t>(code)];
    const std::size_t n = std::min<std::size_t>(entry.length, out.size());
    for (std::size_t i = entry.length; i-- > 0; entry = entries_[entry.before])
      if (i < n) out[i] = entry.last;
    return n;
  }

  const GifFile& file_;
  GifFileType* gif_;
  int clear_, next_ = 0;
  std::array<Entry, kCodes> entries_{};
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
void read_gif_picture(GifFile& file, const std::string_view& rest,
                      Picture& out) {
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
  std::vector<std::uint8_t> all(static_cast<std::size_t>(part.Width) *
                                static_cast<std::size_t>(part.Height));
  // giflib has just read the byte that says it.
  GifPixels(file, gif, static_cast<unsigned char>(rest.data()[-1])).read(all);
  const std::uint8_t* from = all.data();
  each_row(part.Height, part.Interlace, [&](std::int64_t y) {
    std::uint8_t* to = out.row(part.Top + y) + std::int64_t{part.Left} * 3;
    for (int x = 0; x < part.Width; ++x) {
      const std::uint8_t index = *from++;
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
    if (type == IMAGE_DESC_RECORD_TYPE)
      return read_gif_picture(file, rest, out);
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
