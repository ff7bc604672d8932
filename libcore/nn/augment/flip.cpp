// Mirrors pictures.

#include <cstring>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kDirections[] = {"horizontal", "vertical"};

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
    for (std::int64_t y = 0; y < picture.height; ++y) {
      std::memcpy(spare, picture.row(y), n);
      reverse_pixels<channels>(picture.row(y), spare, picture.width,
                               picture.channels);
    }
  });
}

class Flip final : public AugmentStep {
 public:
  explicit Flip(const Settings& settings)
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
