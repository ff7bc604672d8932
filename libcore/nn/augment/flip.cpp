// Mirrors pictures.

#include <algorithm>
#include <cstring>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/pixels.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

constexpr std::string_view kDirections[] = {"horizontal", "vertical"};

void flip_rows(const Picture& picture) {
  for (std::int64_t y = 0; y < picture.height / 2; ++y)
    std::swap_ranges(picture.row(y), picture.row(y + 1),
                     picture.row(picture.height - 1 - y));
}

void flip_columns(Canvas& canvas) {
  const Picture &from = canvas.picture(), &to = canvas.next();
  for_channels(from.channels, [&](auto channels) {
    for (std::int64_t y = 0; y < from.height; ++y)
      reverse_pixels<channels>(to.row(y), from.row(y), from.width,
                               from.channels);
  });
  canvas.turn();
}

class Flip final : public AugmentStep {
 public:
  explicit Flip(const Settings& settings)
      : vertical_(settings.text("direction") == kDirections[1]) {}

  void apply(Sample& sample, Philox&, Room&) const override {
    for (Canvas& canvas : sample.pictures)
      if (vertical_)
        flip_rows(canvas.picture());
      else
        flip_columns(canvas);
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
