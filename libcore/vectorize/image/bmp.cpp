// BMP as Windows and OS/2 write it, without compression.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

constexpr std::uint32_t kPlainRgb = 0, kBitFields = 3;

struct BmpHeader {
  std::int64_t width = 0, height = 0;
  bool from_top = false;
  std::uint32_t bits = 0, kind = kPlainRgb;
  std::size_t pixels = 0, palette = 0, palette_entry = 4;
  std::size_t colors = 0;  // of the palette; 0: as many as the bits tell apart
  std::array<std::uint32_t, 3> masks{};  // of red, green and blue
};

void need(std::string_view bytes, std::size_t size) {
  if (bytes.size() < size) bad_data("it is cut short");
}

void take_masks(std::string_view bytes, std::size_t at, BmpHeader& h) {
  need(bytes, at + 12);
  for (std::size_t i = 0; i < 3; ++i) {
    h.masks[i] = little32(bytes, at + 4 * i);
    const std::uint32_t ones =
        h.masks[i] >> (std::countr_zero(h.masks[i]) % 32);
    if (h.masks[i] == 0 || (ones & (ones + 1)) != 0)
      bad_data("it is damaged (a mask of colors)");
  }
}

BmpHeader bmp_header(std::string_view bytes) {
  need(bytes, 26);
  BmpHeader h;
  h.pixels = little32(bytes, 10);
  const std::size_t size = little32(bytes, 14);
  h.palette = 14 + size;
  if (size == 12) {  // of OS/2
    h.width = little16(bytes, 18);
    h.height = little16(bytes, 20);
    h.bits = little16(bytes, 24);
    h.palette_entry = 3;
    return h;
  }
  if (size < 40) bad_data("it is of a kind that is not read");
  need(bytes, 54);
  h.width = static_cast<std::int32_t>(little32(bytes, 18));
  h.height = static_cast<std::int32_t>(little32(bytes, 22));
  h.from_top = h.height < 0;
  h.height = std::abs(h.height);
  h.bits = little16(bytes, 28);
  h.kind = little32(bytes, 30);
  h.colors = little32(bytes, 46);
  if (h.kind == kBitFields) {
    take_masks(bytes, 54, h);
    if (size == 40) h.palette += 12;
  } else if (h.kind != kPlainRgb) {
    bad_data("it is compressed, which is not read");
  } else if (h.bits == 16) {
    h.masks = {0x7C00, 0x3E0, 0x1F};
  }
  return h;
}

// The part of a number that a mask has, stretched to 0..255.
std::uint8_t masked(std::uint32_t value, std::uint32_t mask) {
  const int shift = std::countr_zero(mask);
  const std::uint64_t most = mask >> shift;
  return static_cast<std::uint8_t>(((value & mask) >> shift) * 255ULL / most);
}

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;

Palette palette_of(std::string_view bytes, const BmpHeader& h) {
  constexpr std::size_t kMostColors = 65536;
  Palette palette{};
  const std::size_t all = std::size_t{1} << h.bits;
  if (h.colors > kMostColors) bad_data("it is damaged (colors of its palette)");
  const std::size_t colors = h.colors == 0 ? all : std::min(h.colors, all);
  need(bytes, h.palette + colors * h.palette_entry);
  for (std::size_t i = 0; i < colors; ++i) {
    const std::size_t at = h.palette + i * h.palette_entry;
    for (std::size_t c = 0; c < 3; ++c)
      palette[i][c] = static_cast<std::uint8_t>(byte_at(bytes, at + 2 - c));
  }
  return palette;
}

void read_pixels(std::string_view row, const BmpHeader& h,
                 const Palette& palette, std::uint8_t* to) {
  const auto width = static_cast<std::size_t>(h.width);
  for (std::size_t x = 0; x < width; ++x, to += 3) {
    if (h.bits <= 8) {
      const std::size_t bit = x * h.bits;
      const std::uint32_t shift = 8 - h.bits - bit % 8;
      const std::size_t index =
          byte_at(row, bit / 8) >> shift & ((1U << h.bits) - 1);
      std::copy_n(palette[index].begin(), 3, to);
    } else if (h.masks[0] != 0) {
      const std::uint32_t value =
          h.bits == 16 ? little16(row, 2 * x) : little32(row, 4 * x);
      for (std::size_t c = 0; c < 3; ++c) to[c] = masked(value, h.masks[c]);
    } else {
      const std::size_t at = x * h.bits / 8;
      for (std::size_t c = 0; c < 3; ++c)
        to[c] = static_cast<std::uint8_t>(byte_at(row, at + 2 - c));
    }
  }
}

void read_bmp(std::string_view bytes, const DecodeLimits& limits,
              Picture& out) {
  const BmpHeader h = bmp_header(bytes);
  check_pixels(h.width, h.height, limits);
  const bool masks_fit = h.kind != kBitFields || h.bits == 16 || h.bits == 32;
  if (!masks_fit || (h.bits != 1 && h.bits != 4 && h.bits != 8 &&
                     h.bits != 16 && h.bits != 24 && h.bits != 32))
    bad_data("its pixels have " + std::to_string(h.bits) +
             " bits, which is not read");
  const auto width = static_cast<std::size_t>(h.width),
             height = static_cast<std::size_t>(h.height);
  const std::size_t stride = (width * h.bits + 31) / 32 * 4;
  if (h.pixels > bytes.size() || stride * height > bytes.size() - h.pixels)
    bad_data("it is cut short");
  const Palette palette = h.bits <= 8 ? palette_of(bytes, h) : Palette{};
  out.reshape(h.width, h.height, 3);
  for (std::size_t y = 0; y < height; ++y) {
    const std::size_t row = h.from_top ? y : height - 1 - y;
    read_pixels(bytes.substr(h.pixels + row * stride, stride), h, palette,
                out.row(static_cast<std::int64_t>(y)));
  }
}

// Few bytes say it, so the size of the next header must be a known one.
bool is_bmp(std::string_view bytes) {
  if (!bytes.starts_with("BM") || bytes.size() < 18) return false;
  const std::uint32_t size = little32(bytes, 14);
  return size == 12 || size == 40 || size == 52 || size == 56 || size == 64 ||
         size == 108 || size == 124;
}

}  // namespace

const PictureFormat kBmp = {"BMP", is_bmp, read_bmp, nullptr};

}  // namespace dl::vectorize
