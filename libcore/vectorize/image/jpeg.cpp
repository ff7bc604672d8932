// JPEG, by libjpeg-turbo: with its defaults (the accurate integer transform,
// smooth upsampling of colors), as Pillow has them.

#include <csetjmp>
#include <cstdio>
// After cstdio, which it wants.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

// A progressive file may have any number of scans, each of which costs as much
// as a picture.
constexpr int kMaxScans = 500;

// The library calls these; it must not be left by an exception.
struct JpegErrors {
  jpeg_error_mgr base;  // first: the library knows it alone
  std::jmp_buf leave;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void jpeg_fails(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->base.format_message(info, errors->text);
  std::longjmp(errors->leave, 1);
}

// Called for each fault of a file that can still be read.
void jpeg_says(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:  // superfluous bytes, which do no harm
    case JWRN_ADOBE_XFORM:
    case JWRN_TOO_MUCH_DATA:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_JFIF_MAJOR:
      return;
    default:
      jpeg_fails(info);
  }
}

void jpeg_advances(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans)
    return;
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(errors->text, sizeof errors->text, "more than %d scans",
                kMaxScans);
  std::longjmp(errors->leave, 1);
}

// The decompressor, and what it needs; one for each thread would not be faster.
struct JpegFile {
  JpegErrors errors;
  jpeg_progress_mgr progress;
  jpeg_decompress_struct info;

  JpegFile() {
    info.err = ::jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_fails;
    errors.base.emit_message = jpeg_says;
    errors.text[0] = '\0';
    progress.progress_monitor = jpeg_advances;
  }
  ~JpegFile() { ::jpeg_destroy_decompress(&info); }
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;
};

// Each of these returns false where the library failed, and holds nothing that
// wants to be destroyed.
bool read_header(JpegFile& file, std::string_view bytes) {
  if (setjmp(file.errors.leave) != 0) return false;
  ::jpeg_create_decompress(&file.info);
  file.info.progress = &file.progress;
  ::jpeg_mem_src(&file.info,
                 reinterpret_cast<const unsigned char*>(bytes.data()),
                 bytes.size());
  ::jpeg_save_markers(&file.info, JPEG_APP0 + 1, 0xFFFF);
  ::jpeg_read_header(&file.info, TRUE);
  return true;
}

bool start(JpegFile& file) {
  if (setjmp(file.errors.leave) != 0) return false;
  ::jpeg_start_decompress(&file.info);
  return true;
}

bool read_rows(JpegFile& file, std::uint8_t* to, std::size_t stride) {
  if (setjmp(file.errors.leave) != 0) return false;
  while (file.info.output_scanline < file.info.output_height) {
    JSAMPROW rows[16];
    for (unsigned i = 0; i < 16; ++i)
      rows[i] = to + (file.info.output_scanline + i) * stride;
    ::jpeg_read_scanlines(
        &file.info, rows,
        std::min(16U, file.info.output_height - file.info.output_scanline));
  }
  ::jpeg_finish_decompress(&file.info);
  return true;
}

[[noreturn]] void refuse(const JpegFile& file) {
  const bool cut = file.info.err->msg_code == JWRN_JPEG_EOF;
  bad_data(cut ? "it is cut short"
               : "it is damaged (" + displayed(file.errors.text) + ")");
}

int orientation_of(const jpeg_decompress_struct& info) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (auto* m = info.marker_list; m != nullptr; m = m->next) {
    const std::string_view data(reinterpret_cast<const char*>(m->data),
                                m->data_length);
    if (data.starts_with(kExif))
      return exif_orientation(data.substr(kExif.size()));
  }
  return 1;
}

// Adobe's programs store CMYK inverted, and so does nearly everyone.
void to_rgb(const Picture& cmyk, bool inverted, Picture& out) {
  const auto product = [](int a, int b) {  // a * b / 255, rounded
    const int x = a * b + 128;
    return ((x >> 8) + x) >> 8;
  };
  const int flip = inverted ? 255 : 0;
  const std::uint8_t* in = cmyk.pixels.data();
  for (std::size_t i = 0; i < out.pixels.size(); i += 3, in += 4) {
    const int light = 255 - (in[3] ^ flip);
    for (std::size_t c = 0; c < 3; ++c)
      out.pixels[i + c] = static_cast<std::uint8_t>(
          std::clamp(light - product(in[c] ^ flip, light), 0, 255));
  }
}

// The library's smaller sizes: 1/2, 1/4, 1/8.
void choose_scale(jpeg_decompress_struct& info, const DecodeLimits& limits,
                  bool lies) {
  if (limits.least_width == 0 || limits.least_height == 0) return;
  const std::int64_t width = lies ? info.image_height : info.image_width;
  const std::int64_t height = lies ? info.image_width : info.image_height;
  for (const unsigned by : {8U, 4U, 2U}) {
    if ((width + by - 1) / by < limits.least_width ||
        (height + by - 1) / by < limits.least_height)
      continue;
    info.scale_num = 1;
    info.scale_denom = by;
    return;
  }
}

void read_jpeg(std::string_view bytes, const DecodeLimits& limits,
               Picture& out) {
  JpegFile file;
  jpeg_decompress_struct& info = file.info;
  if (!read_header(file, bytes)) refuse(file);
  check_pixels(info.image_width, info.image_height, limits);
  out.orientation = orientation_of(info);
  const bool ink = info.num_components == 4;
  info.out_color_space = ink                        ? JCS_CMYK
                         : info.num_components == 1 ? JCS_GRAYSCALE
                                                    : JCS_RGB;
  choose_scale(info, limits, out.orientation > 4);
  if (!start(file)) refuse(file);
  const std::int64_t width = info.output_width, height = info.output_height;
  Picture inks;
  Picture& to = ink ? inks : out;
  to.reshape(width, height, info.output_components);
  if (!read_rows(file, to.pixels.data(), static_cast<std::size_t>(to.stride())))
    refuse(file);
  if (!ink) return;
  out.reshape(width, height, 3);
  to_rgb(inks, info.saw_Adobe_marker != 0, out);
}

bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF");
}

std::string jpeg_library() {
#define DL_TEXT_OF(x) #x
#define DL_TEXT(x) DL_TEXT_OF(x)
  return "libjpeg-turbo " DL_TEXT(LIBJPEG_TURBO_VERSION);
#undef DL_TEXT
#undef DL_TEXT_OF
}

}  // namespace

const PictureFormat kJpeg = {"JPEG", is_jpeg, read_jpeg, jpeg_library};

}  // namespace dl::vectorize
