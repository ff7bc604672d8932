// Brightness, contrast, saturation and hue, in an order drawn.

#include <algorithm>
#include <array>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/augment/tones.h"
#include "libcore/nn/config/keys.h"

namespace dl::nn::augment {
namespace {

class ColorJitter final : public AugmentStep {
 public:
  explicit ColorJitter(const LayerSettings& settings)
      : brightness_(settings.number("brightness")),
        contrast_(settings.number("contrast")),
        saturation_(settings.number("saturation")),
        hue_(settings.number("hue")) {}

  void apply(Sample& sample, Philox& random, Room&) const override {
    const Picture& picture = sample.picture();
    std::array<int, 4> order = {0, 1, 2, 3};
    shuffle(std::span<int>(order), random);
    for (const int change : order) {
      const double drawn = random.uniform();
      const auto factor = [&](double most) {
        const double least = std::max(0.0, 1 - most);
        return least + (1 + most - least) * drawn;
      };
      if (change == 0 && brightness_ > 0)
        adjust_brightness(picture, factor(brightness_));
      if (change == 1 && contrast_ > 0)
        adjust_contrast(picture, factor(contrast_));
      if (change == 2 && saturation_ > 0)
        adjust_saturation(picture, factor(saturation_));
      if (change == 3 && hue_ > 0) adjust_hue(picture, hue_ * (2 * drawn - 1));
    }
  }

 private:
  double brightness_, contrast_, saturation_, hue_;
};

}  // namespace

const AugmentType& color_jitter() {
  static const AugmentType type{
      .name = "color_jitter",
      .words =
          "Changes brightness, contrast, saturation and hue, in an order "
          "drawn, "
          "by factors\ndrawn between 1 - x, but 0 at least, and 1 + x.\n"
          "Saturation and hue are those of pictures with three channels.",
      .other_names = {"colorjitter", "colourjitter", "randomcolorjitter",
                      "randombrightnesscontrast", "randombrightness",
                      "randomcontrast", "randomsaturation", "randomhue"},
      .keys = {key::number("brightness", "0", "x of the brightness.",
                           kAtLeast0),
               key::number("contrast", "0", "x of the contrast.", kAtLeast0),
               key::number("saturation", "0", "x of the saturation.",
                           kAtLeast0),
               key::number("hue", "0",
                           "Hues turn by -hue to hue of the whole circle.",
                           "[0, 0.5]"),
               chance("1")},
      .make = make_step<ColorJitter>};
  return type;
}

}  // namespace dl::nn::augment
