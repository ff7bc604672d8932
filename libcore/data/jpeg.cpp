// Calls of libjpeg, which reports errors by leaping over the caller.

#include "libcore/data/jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
// After cstdio, which it wants.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::data {
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

void set_up(JpegErrors& errors) {
  ::jpeg_std_error(&errors.base);
  errors.base.error_exit = jpeg_fails;
  errors.base.emit_message = jpeg_says;
  errors.text[0] = '\0';
}

}  // namespace

struct JpegReader::State {
  JpegErrors errors;
  jpeg_progress_mgr progress;
  jpeg_decompress_struct info;
  bool created = false;

  State() {
    set_up(errors);
    info.err = &errors.base;
    progress.progress_monitor = jpeg_advances;
  }
  ~State() { destroy(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Tables of one file would be the defaults of the next.
  void destroy() {
    if (created) ::jpeg_destroy_decompress(&info);
    created = false;
  }

  // Each of these returns false where the library failed, and holds nothing
  // that wants to be destroyed.
  bool read_header(std::string_view bytes) {
    if (setjmp(errors.leave) != 0) return false;
    ::jpeg_create_decompress(&info);
    created = true;
    info.progress = &progress;
    ::jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()),
                   bytes.size());
    ::jpeg_save_markers(&info, JPEG_APP0 + 1, 0xFFFF);
    ::jpeg_read_header(&info, TRUE);
    return true;
  }
  bool start() {
    if (setjmp(errors.leave) != 0) return false;
    ::jpeg_start_decompress(&info);
    return true;
  }
  bool read_rows(std::uint8_t* to, std::size_t stride) {
    if (setjmp(errors.leave) != 0) return false;
    while (info.output_scanline < info.output_height) {
      JSAMPROW rows[16];
      for (unsigned i = 0; i < 16; ++i)
        rows[i] = to + (info.output_scanline + i) * stride;
      ::jpeg_read_scanlines(
          &info, rows,
          std::min(16U, info.output_height - info.output_scanline));
    }
    ::jpeg_finish_decompress(&info);
    return true;
  }

  [[noreturn]] void refuse() const {
    const bool cut = info.err->msg_code == JWRN_JPEG_EOF;
    bad_data(cut ? "it is cut short"
                 : "it is damaged (" + displayed(errors.text) + ")");
  }
};

JpegReader::JpegReader() : state_(std::make_unique<State>()) {}
JpegReader::~JpegReader() = default;

JpegReader::Header JpegReader::header(std::string_view bytes) {
  State& s = *state_;
  s.destroy();
  if (!s.read_header(bytes)) s.refuse();
  Header header{s.info.image_width,
                s.info.image_height,
                s.info.num_components,
                s.info.saw_Adobe_marker != 0,
                {}};
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (auto* m = s.info.marker_list; m != nullptr; m = m->next) {
    const std::string_view data(reinterpret_cast<const char*>(m->data),
                                m->data_length);
    if (!data.starts_with(kExif)) continue;
    header.exif = data.substr(kExif.size());
    break;
  }
  return header;
}

JpegReader::Size JpegReader::start(unsigned denominator) {
  jpeg_decompress_struct& info = state_->info;
  info.out_color_space = info.num_components == 4   ? JCS_CMYK
                         : info.num_components == 1 ? JCS_GRAYSCALE
                                                    : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = denominator;
  if (!state_->start()) state_->refuse();
  return {info.output_width, info.output_height, info.output_components};
}

void JpegReader::read(std::uint8_t* to, std::size_t stride) {
  if (!state_->read_rows(to, stride)) state_->refuse();
}

namespace {

struct JpegFile {
  JpegErrors errors;
  jpeg_compress_struct info;
  unsigned char* memory = nullptr;
  unsigned long size = 0;

  JpegFile() {
    set_up(errors);
    info.err = &errors.base;
  }
  ~JpegFile() {
    ::jpeg_destroy_compress(&info);
    std::free(memory);
  }
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;

  bool write(const std::uint8_t* pixels, unsigned width, unsigned height,
             int channels, int quality) {
    if (setjmp(errors.leave) != 0) return false;
    ::jpeg_create_compress(&info);
    ::jpeg_mem_dest(&info, &memory, &size);
    info.image_width = width;
    info.image_height = height;
    info.input_components = channels;
    info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    ::jpeg_set_defaults(&info);
    ::jpeg_set_quality(&info, quality, TRUE);
    ::jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < height) {
      auto* row = const_cast<JSAMPROW>(pixels +
                                       std::size_t{info.next_scanline} * width *
                                           static_cast<std::size_t>(channels));
      ::jpeg_write_scanlines(&info, &row, 1);
    }
    ::jpeg_finish_compress(&info);
    return true;
  }
};

}  // namespace

void write_jpeg(std::span<const std::uint8_t> pixels,
                const tensor::Shape& shape, int quality,
                std::vector<std::byte>& out) {
  JpegFile file;
  if (!file.write(pixels.data(), static_cast<unsigned>(shape[1]),
                  static_cast<unsigned>(shape[0]), static_cast<int>(shape[2]),
                  quality))
    bad_data("it cannot be written as JPEG (" + displayed(file.errors.text) +
             ")");
  const auto bytes = std::as_bytes(std::span(file.memory, file.size));
  out.assign(bytes.begin(), bytes.end());
}

void read_jpeg_pixels(std::span<const std::byte> file,
                      const tensor::Shape& shape, std::span<std::byte> to) {
  JpegReader reader;
  const JpegReader::Header header =
      reader.header({reinterpret_cast<const char*>(file.data()), file.size()});
  const tensor::Shape found{header.height, header.width, header.components};
  if (found != shape)
    bad_data("its JPEG is a picture " + found.to_string() +
             ", the schema says " + shape.to_string());
  reader.start();
  reader.read(reinterpret_cast<std::uint8_t*>(to.data()),
              static_cast<std::size_t>(shape[1] * shape[2]));
}

std::string jpeg_library() {
#define DL_TEXT_OF(x) #x
#define DL_TEXT(x) DL_TEXT_OF(x)
  return "libjpeg-turbo " DL_TEXT(LIBJPEG_TURBO_VERSION);
#undef DL_TEXT
#undef DL_TEXT_OF
}

}  // namespace dl::data
