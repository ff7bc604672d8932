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

enum class Alpha { kNone, kApart, kMultiplied };

// libtiff would multiply colors by their alpha; it leaves those as they are of
// which it thinks that this was done.
Alpha keep_colors(TIFF* tiff) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  ::TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  if (count == 0) return Alpha::kNone;
  if (kinds[0] == EXTRASAMPLE_ASSOCALPHA) return Alpha::kMultiplied;
  const std::uint16_t multiplied = EXTRASAMPLE_ASSOCALPHA;
  if (count == 1)
    ::TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, &multiplied);
  return Alpha::kApart;
}

// As Pillow divides.
std::uint32_t without_alpha(std::uint32_t color, std::uint32_t alpha) {
  return alpha == 0 ? 0 : std::min(255U, color * 255 / alpha);
}

std::uint16_t number_of(TIFF* tiff, std::uint32_t tag) {
  std::uint16_t number = 0;
  ::TIFFGetFieldDefaulted(tiff, tag, &number);
  return number;
}

// Whether red, green and blue of 16 bits lie in rows, whose upper bytes are
// taken; libtiff would round.
bool is_wide(TIFF* tiff, std::uint16_t kind) {
  return kind == PHOTOMETRIC_RGB && ::TIFFIsTiled(tiff) == 0 &&
         number_of(tiff, TIFFTAG_BITSPERSAMPLE) == 16 &&
         number_of(tiff, TIFFTAG_SAMPLESPERPIXEL) >= 3 &&
         number_of(tiff, TIFFTAG_SAMPLEFORMAT) == SAMPLEFORMAT_UINT;
}

void read_wide(TIFF* tiff, Alpha alpha, const TiffBytes& file, Picture& out) {
  const std::size_t samples = number_of(tiff, TIFFTAG_SAMPLESPERPIXEL);
  const bool apart =
      number_of(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  const auto width = static_cast<std::size_t>(out.width);
  const std::size_t line = static_cast<std::size_t>(::TIFFScanlineSize(tiff));
  if (line < width * (apart ? 1 : samples) * 2) refuse(file);
  const std::size_t planes = apart ? samples : 1;
  std::vector<std::uint16_t> numbers(planes * ((line + 1) / 2));
  const std::size_t step = apart ? 1 : samples,
                    next = apart ? numbers.size() / planes : 1;
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::size_t plane = 0; plane < planes; ++plane)
      if (::TIFFReadScanline(tiff, &numbers[plane * (numbers.size() / planes)],
                             static_cast<std::uint32_t>(y),
                             static_cast<std::uint16_t>(plane)) < 0)
        refuse(file);
    std::uint8_t* to = out.row(y);
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint32_t color = numbers[x * step + c * next] >> 8U;
        *to++ = static_cast<std::uint8_t>(
            alpha == Alpha::kMultiplied && samples > 3
                ? without_alpha(color, numbers[x * step + 3 * next] >> 8U)
                : color);
      }
  }
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
  const bool grey =
      kind == PHOTOMETRIC_MINISBLACK || kind == PHOTOMETRIC_MINISWHITE;
  out.reshape(width, height, grey ? 1 : 3);
  out.orientation = turn >= 1 && turn <= 8 ? turn : 1;
  const Alpha alpha = keep_colors(tiff.get());
  if (is_wide(tiff.get(), kind)) return read_wide(tiff.get(), alpha, file, out);
  std::vector<std::uint32_t> raster(std::size_t{width} * height);
  // As the file has its rows: they are turned later.
  if (::TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(),
                                  turn, 1) == 0)
    refuse(file);
  std::uint8_t* to = out.pixels.data();
  const bool divides = alpha == Alpha::kMultiplied && !grey;
  for (const std::uint32_t pixel : raster) {
    const std::uint32_t colors[] = {TIFFGetR(pixel), TIFFGetG(pixel),
                                    TIFFGetB(pixel)};
    for (int c = 0; c < (grey ? 1 : 3); ++c)
      *to++ = static_cast<std::uint8_t>(
          divides ? without_alpha(colors[c], TIFFGetA(pixel)) : colors[c]);
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
