#include "libcore/vectorize/image/fit.h"

#include <algorithm>
#include <cmath>

namespace dl::vectorize {
namespace {

// As Python rounds: a half to the even neighbor.
std::int64_t round_half_even(double x) {
  return static_cast<std::int64_t>(std::nearbyint(x));
}

// As torchvision's Resize: the other side is cut off, not rounded.
PictureSize with_shorter(std::int64_t width, std::int64_t height,
                         std::int64_t shorter) {
  const std::int64_t least = std::min(width, height);
  return {std::max(shorter, shorter * width / least),
          std::max(shorter, shorter * height / least)};
}

PictureSize that_covers(std::int64_t width, std::int64_t height,
                        const FitOptions& to) {
  if (width * to.height >= height * to.width)
    return {to.height * width / height, to.height};
  return {to.width, to.width * height / width};
}

// As Pillow's ImageOps.contain.
PictureSize that_fits_in(std::int64_t width, std::int64_t height,
                         const FitOptions& to) {
  const auto w = static_cast<double>(width), h = static_cast<double>(height),
             to_w = static_cast<double>(to.width),
             to_h = static_cast<double>(to.height);
  PictureSize size{to.width, to.height};
  if (w / h > to_w / to_h) size.height = round_half_even(h / w * to_w);
  if (w / h < to_w / to_h) size.width = round_half_even(w / h * to_h);
  return {std::max<std::int64_t>(size.width, 1),
          std::max<std::int64_t>(size.height, 1)};
}

// Where the middle begins: below 0 where there is less than wanted.
std::int64_t middle(std::int64_t have, std::int64_t want) {
  return round_half_even(static_cast<double>(have - want) / 2);
}

}  // namespace

PictureSize resized_to(std::int64_t width, std::int64_t height,
                       const FitOptions& options) {
  switch (options.fit) {
    case Fit::kCrop:
      return options.shorter > 0 ? with_shorter(width, height, options.shorter)
                                 : that_covers(width, height, options);
    case Fit::kPad:
      return that_fits_in(width, height, options);
    case Fit::kStretch:
      break;
  }
  return {options.width, options.height};
}

void Fitter::fit(const Picture& in, std::uint8_t* out) {
  const auto [width, height] = resized_to(in.width, in.height, options_);
  const Picture* picture = &in;
  if (width != in.width || height != in.height) {
    resizer_.resize(in, width, height, options_.filter, resized_);
    picture = &resized_;
  }
  const std::int64_t row = options_.width * in.channels;
  if (width == options_.width && height == options_.height) {
    std::copy_n(picture->pixels.data(), row * options_.height, out);
    return;
  }
  // Pixels beyond the picture are black.
  std::fill_n(out, row * options_.height, std::uint8_t{0});
  const std::int64_t left = width >= options_.width
                                ? middle(width, options_.width)
                                : -middle(options_.width, width),
                     top = height >= options_.height
                               ? middle(height, options_.height)
                               : -middle(options_.height, height);
  const std::int64_t from_x = std::max<std::int64_t>(left, 0),
                     to_x = std::max<std::int64_t>(-left, 0),
                     n = std::min(width - from_x, options_.width - to_x);
  for (std::int64_t y = 0; y < options_.height; ++y) {
    if (y + top < 0 || y + top >= height) continue;
    std::copy_n(picture->row(y + top) + from_x * in.channels, n * in.channels,
                out + y * row + to_x * in.channels);
  }
}

}  // namespace dl::vectorize
