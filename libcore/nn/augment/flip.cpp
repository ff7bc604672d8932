// Mirrors pictures.

#include <cstring>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kDirections[] = {"horizontal", "vertical"};

// Five pixels of three bytes at a time: the byte that is written beyond them
// is that of the next ones, and the one that is read behind the row is spare.
DL_WIDE_LOOP void reverse_colors(std::uint8_t* to, const std::uint8_t* from,
                                 std::int64_t width) {
  using Bytes __attribute__((vector_size(16))) = std::uint8_t;
  const std::uint8_t* end = from + 3 * width;
  std::int64_t x = 0;
  for (; x + 6 <= width; x += 5) {
    Bytes pixels;
    std::memcpy(&pixels, end - 3 * (x + 5), sizeof pixels);
    pixels = __builtin_shufflevector(pixels, pixels, 12, 13, 14, 9, 10, 11, 6,
                                     7, 8, 3, 4, 5, 0, 1, 2, 15);
    std::memcpy(to + 3 * x, &pixels, sizeof pixels);
  }
  for (; x < width; ++x) std::memcpy(to + 3 * x, end - 3 * (x + 1), 3);
}

void flip_rows(const Picture& picture, std::uint8_t* spare) {
  const auto n = static_cast<std::size_t>(picture.stride());
  for (std::int64_t y = 0; y < picture.height / 2; ++y) {
    std::uint8_t *upper = picture.row(y),
                 *lower = picture.row(picture.height - 1 - y);
    std::memcpy(spare, upper, n);
    std::memcpy(upper, lower, n);
    std::memcpy(lower, spare, n);
  }
}

void flip_columns(const Picture& picture, std::uint8_t* spare) {
  const auto n = static_cast<std::size_t>(picture.stride());
  for_channels(picture.channels, [&](auto channels) {
    const std::int64_t size = channels > 0 ? channels : picture.channels;
    for (std::int64_t y = 0; y < picture.height; ++y) {
      std::uint8_t* row = picture.row(y);
      std::memcpy(spare, row, n);
      if constexpr (channels == 3) {
        reverse_colors(row, spare, picture.width);
        continue;
      }
      for (std::int64_t x = 0; x < picture.width; ++x)
        copy_pixel<channels>(row + x * size,
                             spare + (picture.width - 1 - x) * size, size);
    }
  });
}

class Flip final : public AugmentStep {
 public:
  explicit Flip(const LayerSettings& settings)
      : vertical_(settings.text("direction") == kDirections[1]) {}

  void apply(Sample& sample, Philox&, Room& room) const override {
    for (const Canvas& canvas : sample.pictures) {
      const Picture& picture = canvas.picture();
      room.bytes.resize(static_cast<std::size_t>(picture.stride()) + 1);
      if (vertical_)
        flip_rows(picture, room.bytes.data());
      else
        flip_columns(picture, room.bytes.data());
    }
  }

 private:
  bool vertical_;
};

}  // namespace

const AugmentType& flip() {
  static const AugmentType type{
      .name = "flip",
      .words = "Mirrors the picture.",
      .other_names = {"randomhorizontalflip", "randomverticalflip",
                      "horizontalflip", "randomflip", "hflip", "mirror"},
      .keys = {key::one_of("direction", R"("horizontal")",
                           "Left and right change places, or top and bottom.",
                           kDirections),
               chance("0.5")},
      .make = make_step<Flip>};
  return type;
}

}  // namespace dl::nn::augment
