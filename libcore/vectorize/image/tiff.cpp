// The first picture of a TIFF file, by libtiff.

#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

// The file in memory, as libtiff reads it, and the first complaint.
struct TiffBytes {
  std::string_view bytes;
  std::uint64_t at = 0;
  std::string complaint;
};

TiffBytes& bytes_of(thandle_t handle) {
  return *static_cast<TiffBytes*>(handle);
}

tmsize_t read_some(thandle_t handle, void* to, tmsize_t size) {
  TiffBytes& file = bytes_of(handle);
  if (file.at >= file.bytes.size()) return 0;
  const std::size_t n =
      std::min(static_cast<std::size_t>(size), file.bytes.size() - file.at);
  std::memcpy(to, file.bytes.data() + file.at, n);
  file.at += n;
  return static_cast<tmsize_t>(n);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek_to(thandle_t handle, toff_t offset, int whence) {
  TiffBytes& file = bytes_of(handle);
  if (whence == SEEK_CUR) offset += file.at;
  if (whence == SEEK_END) offset += file.bytes.size();
  file.at = offset;
  return offset;
}

int close_nothing(thandle_t) { return 0; }
toff_t size_of_bytes(thandle_t handle) { return bytes_of(handle).bytes.size(); }

int keep_complaint(TIFF*, void* user, const char*, const char* format,
                   va_list arguments) {
  auto& file = *static_cast<TiffBytes*>(user);
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (file.complaint.empty()) file.complaint = text;
  return 1;
}
int pass_over(TIFF*, void*, const char*, const char*, va_list) { return 1; }

[[noreturn]] void refuse(const TiffBytes& file) {
  bad_data(
      "it is damaged, cut short or of a kind that is not read" +
      (file.complaint.empty() ? "" : " (" + clipped(file.complaint) + ")"));
}

using TiffFile = std::unique_ptr<TIFF, void (*)(TIFF*)>;

TiffFile open_tiff(TiffBytes& file, const DecodeLimits& limits) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(
      ::TIFFOpenOptionsAlloc(), ::TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  ::TIFFOpenOptionsSetMaxSingleMemAlloc(
      options.get(), static_cast<tmsize_t>(limits.max_pixels * 8 + (1 << 20)));
  ::TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_complaint, &file);
  ::TIFFOpenOptionsSetWarningHandlerExtR(options.get(), pass_over, nullptr);
  return {::TIFFClientOpenExt("picture", "rm", &file, read_some, write_nothing,
                              seek_to, close_nothing, size_of_bytes, nullptr,
                              nullptr, options.get()),
          ::TIFFClose};
}

void read_tiff(std::string_view bytes, const DecodeLimits& limits,
               Picture& out) {
  TiffBytes file{bytes, 0, ""};
  const TiffFile tiff = open_tiff(file, limits);
  std::uint32_t width = 0, height = 0;
  if (!tiff || ::TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      ::TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0)
    refuse(file);
  check_pixels(width, height, limits);
  std::uint16_t turn = ORIENTATION_TOPLEFT, kind = PHOTOMETRIC_RGB;
  ::TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &turn);
  if (::TIFFGetField(tiff.get(), TIFFTAG_PHOTOMETRIC, &kind) == 0)
    bad_data("it is damaged (it does not say what its numbers mean)");
  std::vector<std::uint32_t> raster(std::size_t{width} * height);
  // As the file has its rows: they are turned later.
  if (::TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(),
                                  turn, 1) == 0)
    refuse(file);
  const bool grey =
      kind == PHOTOMETRIC_MINISBLACK || kind == PHOTOMETRIC_MINISWHITE;
  out.reshape(width, height, grey ? 1 : 3);
  out.orientation = turn >= 1 && turn <= 8 ? turn : 1;
  std::uint8_t* to = out.pixels.data();
  for (const std::uint32_t pixel : raster) {
    *to++ = static_cast<std::uint8_t>(TIFFGetR(pixel));
    if (grey) continue;
    *to++ = static_cast<std::uint8_t>(TIFFGetG(pixel));
    *to++ = static_cast<std::uint8_t>(TIFFGetB(pixel));
  }
}

bool is_tiff(std::string_view bytes) {
  constexpr std::string_view kLittle("II*\0", 4), kBig("MM\0*", 4);
  return bytes.starts_with(kLittle) || bytes.starts_with(kBig);
}

// "LIBTIFF, Version 4.5.0\nCopyright ..."
std::string tiff_library() {
  const std::string_view text = ::TIFFGetVersion();
  const std::string_view line = text.substr(0, text.find('\n'));
  return "libtiff " + std::string(line.substr(line.rfind(' ') + 1));
}

}  // namespace

const PictureFormat kTiff = {"TIFF", is_tiff, read_tiff, tiff_library};

}  // namespace dl::vectorize
