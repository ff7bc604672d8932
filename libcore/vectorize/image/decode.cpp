#include "libcore/vectorize/image/decode.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <span>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/looks_like.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

constexpr const PictureFormat* kFormats[] = {&kJpeg, &kPng, &kWebp, &kTiff,
                                             &kGif,  &kBmp, &kPnm};

const PictureFormat* format_of(std::string_view bytes) {
  const auto found = std::ranges::find_if(
      kFormats, [&](const PictureFormat* format) { return format->is(bytes); });
  return found == std::end(kFormats) ? nullptr : *found;
}

}  // namespace

std::string no_picture(std::span<const std::byte> start) {
  if (start.empty()) return "it is empty";
  if (format_of({reinterpret_cast<const char*>(start.data()), start.size()}))
    return "";
  const io::FileKind kind = io::file_kind(start);
  return "it is no picture that is read (" +
         (kind.what == io::FileClass::kUnknown ? io::looks_like(start)
                                               : kind.text) +
         "); want JPEG, PNG, WebP, TIFF, GIF, BMP or PNM";
}

void check_pixels(std::int64_t width, std::int64_t height,
                  const DecodeLimits& limits) {
  if (width < 1 || height < 1)
    bad_data("a picture of " + std::to_string(width) + " x " +
             std::to_string(height) + " pixels");
  // The weights of resizing take memory as the sides do.
  constexpr std::int64_t kMaxSide = 1 << 20;
  if (std::max(width, height) > kMaxSide)
    bad_data("it has " + std::to_string(width) + " x " +
             std::to_string(height) + " pixels, want " +
             std::to_string(kMaxSide) + " a side at most");
  if (width > limits.max_pixels / height)
    bad_data("it has " + std::to_string(width) + " x " +
             std::to_string(height) + " pixels, want " +
             std::to_string(limits.max_pixels) + " at most (max_pixels)");
}

void decode(std::string_view bytes, const DecodeLimits& limits, Picture& out) {
  const PictureFormat* format = format_of(bytes);
  if (format == nullptr)
    bad_data(no_picture(std::as_bytes(std::span(bytes))
                            .first(std::min<std::size_t>(bytes.size(), 512))));
  out.orientation = 1;
  try {
    format->read(bytes, limits, out);
  } catch (Error& e) {
    e.add_context(format->name);
    throw;
  } catch (const std::bad_alloc&) {
    bad_data(std::string(format->name) + ": it takes too much memory");
  }
  make_upright(out);
}

std::map<std::string, std::string> decoder_versions() {
  std::map<std::string, std::string> versions;
  for (const PictureFormat* format : kFormats) {
    if (format->library == nullptr) continue;
    const std::string text = format->library();
    const std::size_t blank = text.find(' ');
    versions[text.substr(0, blank)] = text.substr(blank + 1);
  }
  return versions;
}

}  // namespace dl::vectorize
