// PBM, PGM and PPM, as text (P1, P2, P3) and as bytes (P4, P5, P6).

#include <algorithm>
#include <cctype>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/vectorize/image/formats.h"

namespace dl::vectorize {
namespace {

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

class PnmText {
 public:
  explicit PnmText(std::string_view bytes) : rest_(bytes) {}

  // A number behind blanks and comments.
  std::uint32_t number() {
    skip();
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (; !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0]));
         rest_.remove_prefix(1), ++digits)
      value = std::min<std::uint64_t>(
          value * 10 + static_cast<std::uint64_t>(rest_[0] - '0'), 0xFFFFFFFFU);
    if (digits == 0)
      bad_data(rest_.empty() ? "it is cut short" : "it is damaged");
    if (!rest_.empty() && !is_blank(rest_[0]) && rest_[0] != '#')
      bad_data("it is damaged (a number)");
    return static_cast<std::uint32_t>(value);
  }
  // A 0 or a 1, which may stand without blanks between.
  std::uint32_t bit() {
    skip();
    if (rest_.empty()) bad_data("it is cut short");
    const char c = rest_[0];
    if (c != '0' && c != '1') bad_data("it is damaged");
    rest_.remove_prefix(1);
    return c == '1' ? 1 : 0;
  }
  // Refuses what is no bit behind the last one.
  void end_of_bits() {
    skip();
    if (!rest_.empty() && rest_[0] != '0' && rest_[0] != '1')
      bad_data("it is damaged");
  }
  // The bytes behind the one blank that ends the header.
  std::string_view pixels() {
    if (rest_.empty() || !is_blank(rest_[0])) bad_data("it is cut short");
    return rest_.substr(1);
  }

 private:
  void skip() {
    while (!rest_.empty() && (is_blank(rest_[0]) || rest_[0] == '#')) {
      if (rest_[0] == '#')
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      else
        rest_.remove_prefix(1);
    }
  }
  std::string_view rest_;
};

// 0..most to 0..255, as Pillow does: rounded, halves to even.  Of bytes, larger
// ones are the largest; of text, they are damage.
std::uint8_t scaled(std::uint32_t value, std::uint32_t most) {
  value = std::min(value, most);
  return static_cast<std::uint8_t>(
      std::nearbyint(static_cast<double>(value) / most * 255));
}

void read_bits(std::string_view bytes, Picture& out) {
  const std::int64_t stride = (out.width + 7) / 8;
  if (static_cast<std::int64_t>(bytes.size()) < stride * out.height)
    bad_data("it is cut short");
  for (std::int64_t y = 0; y < out.height; ++y)
    for (std::int64_t x = 0; x < out.width; ++x) {
      const auto at = static_cast<std::size_t>(y * stride + x / 8);
      const bool black = (byte_at(bytes, at) >> (7 - x % 8) & 1U) != 0;
      out.row(y)[x] = black ? 0 : 255;
    }
}

void read_numbers(std::string_view bytes, std::uint32_t most, Picture& out) {
  const std::size_t each = most > 255 ? 2 : 1;
  if (bytes.size() / each < out.pixels.size()) bad_data("it is cut short");
  for (std::size_t i = 0; i < out.pixels.size(); ++i)
    out.pixels[i] =
        scaled(each == 1 ? byte_at(bytes, i) : big16(bytes, 2 * i), most);
}

void read_pnm(std::string_view bytes, const DecodeLimits& limits,
              Picture& out) {
  const char kind = bytes[1];
  const bool text = kind <= '3';
  const int of = (kind - '1') % 3;  // bits, grey, colors
  PnmText header(bytes.substr(2));
  const std::int64_t width = header.number(), height = header.number();
  check_pixels(width, height, limits);
  std::uint32_t most = 1;
  if (of != 0) most = header.number();
  if (most < 1 || most > 65535) bad_data("it is damaged (its largest number)");
  // A number takes a digit and a blank, or more.
  if (text && static_cast<std::int64_t>(bytes.size()) < width * height)
    bad_data("it is cut short");
  out.reshape(width, height, of == 2 ? 3 : 1);
  if (!text) {
    if (of == 0) return read_bits(header.pixels(), out);
    return read_numbers(header.pixels(), most, out);
  }
  for (std::uint8_t& pixel : out.pixels) {
    if (of == 0) {
      pixel = header.bit() != 0 ? 0 : 255;
      continue;
    }
    const std::uint32_t value = header.number();
    if (value > most) bad_data("it is damaged (a number above its largest)");
    pixel = scaled(value, most);
  }
  if (of == 0) header.end_of_bits();
}

bool is_pnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' &&
         bytes[1] <= '6' && (is_blank(bytes[2]) || bytes[2] == '#');
}

}  // namespace

const PictureFormat kPnm = {"PNM", is_pnm, read_pnm, nullptr};

}  // namespace dl::vectorize
